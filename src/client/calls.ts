// Calls to the server and to workers, each with a deadline, their failures sorted: nobody there, no such
// session, or an error of the caller's.

import {
  isGrpcServiceError,
  QueryNotRegisteredError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { saysNoSuchAgent } from '../protocol/agent-names.js';
import {
  AgentClientError,
  grpcCodeOf,
  reasonOf,
  ServerUnreachable,
  SessionNotFound,
} from './errors.js';
import type { Answer } from './follower.js';

const deadlines = {
  /** Calls that the server answers by itself. */
  serverMs: 4_000,
  /** Calls that a worker answers, perhaps after replaying the session. */
  workerMs: 10_000,
  /** Long calls that only move data: starting, signalling. */
  sendMs: 20_000,
} as const;

// grpc status codes; @grpc/grpc-js is not a dependency of ours.
const code = {
  cancelled: 1,
  deadlineExceeded: 4,
  permissionDenied: 7,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const finalCodes: ReadonlySet<number> = new Set([
  code.permissionDenied,
  code.unimplemented,
  code.unauthenticated,
]);

/** A call the server answers by itself. */
export async function askServer<T>(
  client: Client,
  workflowId: string,
  call: () => Promise<T>,
): Promise<Answer<T>> {
  try {
    const value = await client.withDeadline(Date.now() + deadlines.serverMs, call);
    return { kind: 'answer', value };
  } catch (error) {
    rethrowFinal(error, workflowId);
    return { kind: 'unreachable', what: 'server', reason: reasonOf(error) };
  }
}

/** A query: a worker must answer it. */
export async function askWorker<T>(
  client: Client,
  workflowId: string,
  call: () => Promise<T>,
): Promise<Answer<T>> {
  try {
    const value = await client.withDeadline(Date.now() + deadlines.workerMs, call);
    return { kind: 'answer', value };
  } catch (error) {
    if (error instanceof Error && saysNoSuchAgent(error.message)) {
      return { kind: 'refused', error: new AgentClientError(error.message, { cause: error }) };
    }
    if (isUnknownQuery(error)) return { kind: 'refused', error: noAgent(workflowId, error) };
    rethrowFinal(error, workflowId);
    const what = grpcCodeOf(error) === code.unavailable ? 'server' : 'worker';
    return { kind: 'unreachable', what, reason: reasonOf(error) };
  }
}

/** Sends something that needs no worker. Failures are errors of ours. */
export async function send<T>(
  client: Client,
  { workflowId, address }: { readonly workflowId: string; readonly address: string },
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + deadlines.sendMs, call);
  } catch (error) {
    if (isUnreachable(error)) throw new ServerUnreachable(address, { cause: error });
    throw toCallerError(error, workflowId);
  }
}

export function isUnreachable(error: unknown): boolean {
  const found = grpcCodeOf(error);
  return found === code.unavailable || found === code.deadlineExceeded || found === code.cancelled;
}

function rethrowFinal(error: unknown, workflowId: string): void {
  const found = grpcCodeOf(error);
  const isFinal =
    error instanceof WorkflowNotFoundError ||
    (found !== undefined && finalCodes.has(found)) ||
    // A bug of the caller's, e.g. an argument that cannot be encoded.
    !(isGrpcServiceError(error) || found !== undefined || error instanceof QueryNotRegisteredError);
  if (isFinal) throw toCallerError(error, workflowId);
}

/** Another failure inside a query, e.g. of a replay, comes as the same class. */
function isUnknownQuery(error: unknown): error is QueryNotRegisteredError {
  return (
    error instanceof QueryNotRegisteredError && error.message.includes('did not register a handler')
  );
}

function noAgent(workflowId: string, cause: QueryNotRegisteredError): AgentClientError {
  return new AgentClientError(
    `The workflow '${workflowId}' does not answer an agent's queries: it is no agent, or its input was refused.`,
    { cause },
  );
}

function toCallerError(error: unknown, workflowId: string): unknown {
  if (error instanceof WorkflowNotFoundError) {
    return new SessionNotFound(workflowId, { cause: error });
  }
  const found = grpcCodeOf(error);
  if (found === undefined) return error;
  return new AgentClientError(`Temporal refuses the call: ${reasonOf(error)}`, { cause: error });
}
