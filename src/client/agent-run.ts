// A handle to one session: what can be said to it, asked of it and seen of it.
//
// Signals are durable once the call returns and need no worker. Queries and `submit` need one.

import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { EventsPage, ReportedEvent, SignalKind } from '../protocol/events.js';
import type { SubmitInput, SubmitOutcome } from '../protocol/handlers.js';
import type { Message } from '../protocol/messages.js';
import type {
  Addressed,
  AgentRunResult,
  AgentSessionResult,
  AgentState,
  MessagesPage,
  ResponseMessage,
} from '../protocol/session.js';
import { askPollingWorker, workerUnreachable } from './awaited-worker.js';
import { askServer, isUnreachable, send } from './calls.js';
import { ServerUnreachable, SessionEnded, SessionNotFound } from './errors.js';
import type { FollowedEvent } from './followed-events.js';
import { follow } from './follower.js';
import type { FollowOptions } from './follower.js';
import { toSignalArgument } from './inputs.js';
import type { ApprovalAnswer, InputOptions, MessageInput } from './inputs.js';
import { readMessages } from './messages-reader.js';
import { toAgentRunError } from './run-result.js';
import { createFollowedSession } from './session-source.js';

/** `AgentRunResult` for lifetime `run`, `AgentSessionResult` for lifetime `session`. */
export type AgentResult = AgentRunResult | AgentSessionResult;

export interface SubmitOptions extends InputOptions {
  /** How long to wait for the outcome. Default 10 seconds. */
  readonly timeoutMs?: number;
}

/** `Result` is what the workflow completes with; one's own workflows complete with what they like. */
export class AgentRun<Result = AgentRunResult> {
  readonly workflowId: string;
  /** The agent that is meant, of a workflow with several; undefined: the first. */
  readonly agent: string | undefined;
  readonly #client: Client;
  readonly #address: string;
  readonly #firstRunId: string | undefined;

  /** Made by `AgentClient.start` and `AgentClient.get`. */
  constructor(
    client: Client,
    session: {
      readonly workflowId: string;
      readonly address: string;
      readonly firstRunId?: string;
      readonly agent?: string | undefined;
    },
  ) {
    this.#client = client;
    this.workflowId = session.workflowId;
    this.#address = session.address;
    this.#firstRunId = session.firstRunId;
    this.agent = session.agent;
  }

  /** The signal of that kind: what the methods named after the kinds send. */
  async signal(
    kind: SignalKind,
    content?: MessageInput | ApprovalAnswer,
    options?: InputOptions,
  ): Promise<void> {
    const argument = { ...toSignalArgument(kind, content, options), ...this.#addressed() };
    await this.#send(() => this.#handle().signal(kind, argument));
  }

  /** Enters the transcript before the next model call. */
  async steer(message: MessageInput, options?: InputOptions): Promise<void> {
    await this.signal('steer', message, options);
  }

  /** Enters the transcript when the run would otherwise end. */
  async followUp(message: MessageInput, options?: InputOptions): Promise<void> {
    await this.signal('followUp', message, options);
  }

  /** Starts a run of an idle session; while one is active it is rejected, which an event records. */
  async prompt(message: MessageInput, options?: InputOptions): Promise<void> {
    await this.signal('prompt', message, options);
  }

  /** Runs on from the present transcript of an idle session. */
  async continue(options?: InputOptions): Promise<void> {
    await this.signal('continue', undefined, options);
  }

  /** Stops the present run. A session stays open; a `run` completes with `stopReason` `aborted`. */
  async abort(reason?: string, options?: InputOptions): Promise<void> {
    await this.signal('abort', reason === undefined ? {} : { reason }, options);
  }

  async approve(answer: ApprovalAnswer = {}, options?: InputOptions): Promise<void> {
    await this.signal('approve', answer, options);
  }

  async deny(answer: ApprovalAnswer = {}, options?: InputOptions): Promise<void> {
    await this.signal('deny', answer, options);
  }

  /** Lets the present run finish and ends the session. */
  async close(options?: InputOptions): Promise<void> {
    await this.signal('close', undefined, options);
  }

  /**
   * Stops the present run and closes the workflow as Canceled.
   * @throws SessionEnded when it is closed already, which the server would not say
   */
  async cancel(): Promise<void> {
    const { status } = await this.#send(() => this.#handle().describe());
    if (status.name !== 'RUNNING' && status.name !== 'PAUSED') {
      throw new SessionEnded(this.workflowId);
    }
    await this.#send(async () => this.#handle().cancel());
  }

  /**
   * Sends an input and answers what became of it. The same id sent again, also by a signal, counts once.
   * @throws WorkerUnreachable when no worker answers in time; the input may still arrive.
   */
  async submit(
    kind: SignalKind,
    message?: MessageInput | ApprovalAnswer,
    { timeoutMs = 10_000, ...options }: SubmitOptions = {},
  ): Promise<SubmitOutcome> {
    const { id, ...fields } = toSignalArgument(kind, message, options);
    const hasMessage = Object.keys(fields).length > 0;
    const input: SubmitInput = {
      kind,
      id,
      ...(hasMessage ? { message: fields } : {}),
      ...this.#addressed(),
    };
    try {
      return await this.#client.withDeadline(Date.now() + timeoutMs, () =>
        this.#handle().executeUpdate<SubmitOutcome, [SubmitInput]>('submit', {
          args: [input],
          // Not `id`: the server would answer a repetition itself, without saying that it is one.
          updateId: randomUUID(),
        }),
      );
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw await this.#endedOrMissing(error);
      if (isUpdateTimeout(error)) {
        throw await workerUnreachable(this.#client, this.workflowId, error);
      }
      if (isUnreachable(error)) throw new ServerUnreachable(this.#address, { cause: error });
      throw error;
    }
  }

  /** @throws WorkerUnreachable when no worker answers */
  async state(): Promise<AgentState> {
    return this.#query<AgentState>('state');
  }

  /** The last answer as an OpenAI chat-completion message; null when there is none yet. */
  async response(): Promise<ResponseMessage | null> {
    return this.#query<ResponseMessage | null>('response');
  }

  /** The transcript, as it is when its last page is read. */
  messages(options: { readonly from?: number; readonly to?: number } = {}): AsyncIterable<Message> {
    return readMessages((query) => this.#query<MessagesPage>('messages', query), options);
  }

  /**
   * Logged events, each once and in order, with live views between them; ends when the workflow has
   * closed and all its events were told. Outages of workers and server are told and waited out.
   */
  events(options: FollowOptions = {}): AsyncIterable<FollowedEvent> {
    return follow(createFollowedSession(this.#client, this.workflowId, this.agent), options);
  }

  /**
   * The events logged so far, without waiting for more.
   * @throws WorkerUnreachable when no worker answers
   */
  async *loggedEvents({
    after = 0,
  }: { readonly after?: number } = {}): AsyncGenerator<ReportedEvent> {
    let next = after;
    for (;;) {
      const page = await this.#query<EventsPage>('events', { after: next });
      yield* page.events;
      if (page.events.length === 0) return;
      next = page.next;
    }
  }

  /** The sequence number of the last event logged so far; 0 before the first. */
  async lastSequence(): Promise<number> {
    return (await this.#query<EventsPage>('events', { after: Number.MAX_SAFE_INTEGER })).next;
  }

  /**
   * Waits for the end of the workflow.
   * @throws AgentRunError when it ended without a result
   */
  async result(): Promise<Result> {
    try {
      return (await this.#handle().result()) as Result;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) {
        throw new SessionNotFound(this.workflowId, { cause: error });
      }
      throw toAgentRunError(error, this.workflowId);
    }
  }

  /** What was recorded at the start of the workflow; undefined when it was not started by this client. */
  async lifetime(): Promise<'run' | 'session' | undefined> {
    const answer = await askServer(this.#client, this.workflowId, () => this.#handle().describe());
    if (answer.kind !== 'answer') throw new ServerUnreachable(this.#address);
    const lifetime = answer.value.memo?.['lifetime'];
    return lifetime === 'run' || lifetime === 'session' ? lifetime : undefined;
  }

  #addressed(): Addressed {
    return this.agent === undefined ? {} : { agent: this.agent };
  }

  #handle(): WorkflowHandle {
    const firstExecutionRunId = this.#firstRunId;
    return this.#client.workflow.getHandle(
      this.workflowId,
      undefined,
      firstExecutionRunId === undefined ? {} : { firstExecutionRunId },
    );
  }

  async #send<T>(call: () => Promise<T>): Promise<T> {
    const session = { workflowId: this.workflowId, address: this.#address };
    try {
      return await send(this.#client, session, call);
    } catch (error) {
      if (error instanceof SessionNotFound) throw await this.#endedOrMissing(error);
      throw error;
    }
  }

  async #query<T>(name: string, argument?: object): Promise<T> {
    const isPlain = argument === undefined && this.agent === undefined;
    const args = isPlain ? [] : [{ ...argument, ...this.#addressed() }];
    const answer = await askPollingWorker(this.#client, this.workflowId, () =>
      this.#handle().query<T, unknown[]>(name, ...args),
    );
    if (answer.kind === 'answer') return answer.value;
    if (answer.kind === 'refused') throw answer.error;
    throw answer.what === 'server'
      ? new ServerUnreachable(this.#address)
      : await workerUnreachable(this.#client, this.workflowId, answer.reason);
  }

  /** The server says "not found" for both: an id it never saw, and a workflow that is closed. */
  async #endedOrMissing(cause: unknown): Promise<Error> {
    const session = { workflowId: this.workflowId, address: this.#address };
    try {
      await send(this.#client, session, () => this.#handle().describe());
      return new SessionEnded(this.workflowId, { cause });
    } catch (error) {
      return error instanceof Error ? error : new SessionNotFound(this.workflowId, { cause });
    }
  }
}

function isUpdateTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'WorkflowUpdateRPCTimeoutOrCancelledError';
}
