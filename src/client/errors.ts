// What can go wrong between a caller and a session, each as one sentence that says what to do next.

import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { defaultTaskQueue } from '../protocol/session.js';

/** Ancestor of every error this package throws at its callers on purpose. */
export class AgentClientError extends Error {
  override name = 'AgentClientError';
}

/** Nothing answers at the server's address. */
export class ServerUnreachable extends AgentClientError {
  override name = 'ServerUnreachable';
  readonly address: string;

  constructor(address: string, options?: ErrorOptions) {
    super(
      `No Temporal server answers at ${address}. Start one with \`holdfast dev\`, or set TEMPORAL_ADDRESS.`,
      options,
    );
    this.address = address;
  }
}

/** The server answers, but no worker does: the session is there and goes on when one is back. */
export class WorkerUnreachable extends AgentClientError {
  override name = 'WorkerUnreachable';
  /** The queue that a worker has to serve, where the server told it. */
  readonly taskQueue: string | undefined;

  constructor(workflowId: string, options: ErrorOptions & { readonly taskQueue?: string } = {}) {
    const { taskQueue, ...rest } = options;
    const where = taskQueue === undefined ? '' : ` on task queue '${taskQueue}'`;
    const flags =
      taskQueue === undefined || taskQueue === defaultTaskQueue ? '' : ` --task-queue ${taskQueue}`;
    super(
      `No worker answers for '${workflowId}'${where}. Start one with \`holdfast worker${flags}\`; nothing is lost meanwhile.`,
      rest,
    );
    this.taskQueue = taskQueue;
  }
}

export class SessionNotFound extends AgentClientError {
  override name = 'SessionNotFound';

  constructor(workflowId: string, options?: ErrorOptions) {
    super(`There is no session '${workflowId}'. \`holdfast list\` shows those there are.`, options);
  }
}

/** The session exists but takes no more input. */
export class SessionEnded extends AgentClientError {
  override name = 'SessionEnded';

  constructor(workflowId: string, options?: ErrorOptions) {
    super(
      `The session '${workflowId}' has ended. Start another with \`holdfast run\`; \`holdfast messages ${workflowId}\` shows what was said.`,
      options,
    );
  }
}

export class WorkflowIdInUse extends AgentClientError {
  override name = 'WorkflowIdInUse';

  constructor(workflowId: string, options?: ErrorOptions) {
    super(
      `The id '${workflowId}' belongs to a session that is still open. Choose another id, or talk to it: \`holdfast steer ${workflowId} …\`.`,
      options,
    );
  }
}

/** What an agent was to be started with is no input; nothing was sent. */
export class InvalidAgentInput extends AgentClientError {
  override name = 'InvalidAgentInput';
}

/** More than a Temporal payload may carry; nothing was sent. */
export class MessageTooLarge extends AgentClientError {
  override name = 'MessageTooLarge';
  readonly bytes: number;
  readonly maxBytes: number;

  constructor(what: string, bytes: number, maxBytes: number) {
    super(
      `The ${what} is ${bytes} bytes of JSON; at most ${maxBytes} can be sent. Put large content into a file of the workspace and name the file instead.`,
    );
    this.bytes = bytes;
    this.maxBytes = maxBytes;
  }
}

export type AgentRunFailure =
  | 'input'
  | 'model'
  | 'hook'
  | 'canceled'
  | 'terminated'
  | 'timedOut'
  | 'failed';

/** The workflow closed without a result. */
export class AgentRunError extends AgentClientError {
  override name = 'AgentRunError';
  /** `model`: the run ended in a model error; `input`: it was refused at the start. */
  readonly kind: AgentRunFailure;
  /** The type of the ApplicationFailure, where there is one. */
  readonly type: string | undefined;

  constructor(kind: AgentRunFailure, message: string, type?: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
    this.type = type;
  }
}

/** The gRPC status code of an error or of its cause. */
export function grpcCodeOf(error: unknown): number | undefined {
  if (isGrpcServiceError(error)) return error.code;
  if (error instanceof ServiceError || (error instanceof Error && error.cause !== undefined)) {
    return isGrpcServiceError(error.cause) ? error.cause.code : undefined;
  }
  return undefined;
}

/** Why a call failed, without the wrapping sentences. */
export function reasonOf(error: unknown): string {
  if (isGrpcServiceError(error)) return error.details || error.message;
  if (error instanceof Error) {
    return isGrpcServiceError(error.cause) ? reasonOf(error.cause) : error.message;
  }
  return String(error);
}
