// The library's door to running agents: start one, find one, list them.

import { Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Connection, WorkflowExecutionInfo } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { agentInputProblem } from '../protocol/agent-input.js';
import { defaultTaskQueue, workflowType } from '../protocol/session.js';
import type { AgentInput, AgentRunResult, AgentSessionResult } from '../protocol/session.js';
import { AgentRun } from './agent-run.js';
import type { AgentResult } from './agent-run.js';
import { send } from './calls.js';
import { connectClient, serverSettings } from './connection.js';
import type { ServerOptions } from './connection.js';
import { InvalidAgentInput, WorkflowIdInUse } from './errors.js';
import { assertFits, promptSummary } from './inputs.js';
import { proposeWorkflowId } from './workflow-id.js';

export interface AgentClientOptions extends ServerOptions {
  /** Default `holdfast`. */
  readonly taskQueue?: string | undefined;
  /** Decodes and encodes as the workers do, e.g. with an encrypting codec. */
  readonly dataConverter?: DataConverter | undefined;
  /** A connection of the caller's, which `close` leaves open. */
  readonly connection?: Connection | undefined;
  /** A client of the caller's: connection, namespace and data converter are its own. */
  readonly client?: Client | undefined;
}

export interface StartOptions {
  /** Default: a short readable one. */
  readonly workflowId?: string | undefined;
  /** Default: the client's. */
  readonly taskQueue?: string | undefined;
}

export interface GetOptions {
  /** The agent's name in its workflow. Default: the one that was created first. */
  readonly agent?: string | undefined;
}

export interface AgentSummary {
  readonly workflowId: string;
  readonly status:
    | 'running'
    | 'completed'
    | 'failed'
    | 'canceled'
    | 'terminated'
    | 'timedOut'
    | 'paused';
  readonly startedAt: Date;
  readonly closedAt?: Date;
  readonly lifetime?: 'run' | 'session';
  /** The prompt, cut. */
  readonly summary?: string;
}

export interface ListOptions {
  /** Default 100, newest first. */
  readonly limit?: number;
  /** Only those still open. */
  readonly open?: boolean;
  /** Workflow type: that of a workflow of one's own. Default `agent`. */
  readonly type?: string | undefined;
}

export class AgentClient implements AsyncDisposable {
  /** Temporal's own client, for what this one does not do. */
  readonly temporal: Client;
  readonly address: string;
  readonly taskQueue: string;
  readonly #ownConnection: Connection | undefined;

  private constructor(
    temporal: Client,
    { address, taskQueue }: { readonly address: string; readonly taskQueue: string },
    ownConnection: Connection | undefined,
  ) {
    this.temporal = temporal;
    this.address = address;
    this.taskQueue = taskQueue;
    this.#ownConnection = ownConnection;
  }

  /**
   * Connects as Temporal's own configuration says (`TEMPORAL_ADDRESS`, `temporal.toml`, …), options first.
   * @throws ServerUnreachable
   */
  static async connect(options: AgentClientOptions = {}): Promise<AgentClient> {
    const taskQueue = options.taskQueue ?? defaultTaskQueue;
    const settings = serverSettings(options);
    const { address, namespace } = settings;
    if (options.client !== undefined) {
      return new AgentClient(options.client, { address, taskQueue }, undefined);
    }
    const connection = options.connection ?? (await connectClient(settings));
    const { dataConverter } = options;
    const client = new Client({
      connection,
      namespace,
      ...(dataConverter === undefined ? {} : { dataConverter }),
    });
    const own = options.connection === undefined ? connection : undefined;
    return new AgentClient(client, { address, taskQueue }, own);
  }

  start(
    input: AgentInput & { readonly lifetime: 'session' },
    options?: StartOptions,
  ): Promise<AgentRun<AgentSessionResult>>;
  start(
    input: string | (AgentInput & { readonly lifetime?: 'run' }),
    options?: StartOptions,
  ): Promise<AgentRun<AgentRunResult>>;
  start(input: string | AgentInput, options?: StartOptions): Promise<AgentRun<AgentResult>>;
  /**
   * Starts an agent and returns at once; the start is durable and needs no worker.
   * @throws InvalidAgentInput, MessageTooLarge, WorkflowIdInUse, ServerUnreachable
   */
  async start(
    input: string | AgentInput,
    { workflowId = proposeWorkflowId(), taskQueue = this.taskQueue }: StartOptions = {},
  ): Promise<AgentRun<AgentResult>> {
    const problem = agentInputProblem(input);
    if (problem !== undefined) throw new InvalidAgentInput(problem);
    assertFits('input', input);
    const summary = promptSummary(input);
    const lifetime = (typeof input === 'string' ? undefined : input.lifetime) ?? 'run';
    const { address } = this;
    try {
      const handle = await send(this.temporal, { workflowId, address }, () =>
        this.temporal.workflow.start(workflowType, {
          workflowId,
          taskQueue,
          args: [input],
          // Lists show memos, not summaries.
          memo: { lifetime, ...(summary === undefined ? {} : { summary }) },
          ...(summary === undefined ? {} : { staticSummary: summary }),
        }),
      );
      return new AgentRun(this.temporal, {
        workflowId,
        address,
        firstRunId: handle.firstExecutionRunId,
      });
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) {
        throw new WorkflowIdInUse(workflowId, { cause: error });
      }
      throw error;
    }
  }

  /** A handle to a session that exists, or to one agent of a workflow with several; nothing is sent. */
  get<Result = AgentRunResult>(workflowId: string, { agent }: GetOptions = {}): AgentRun<Result> {
    return new AgentRun<Result>(this.temporal, { workflowId, address: this.address, agent });
  }

  /** Agents of this namespace, open and closed as far as the server retains them, newest first. */
  async *list({
    limit = 100,
    open = false,
    type = workflowType,
  }: ListOptions = {}): AsyncGenerator<AgentSummary> {
    const query = `WorkflowType = '${type.replaceAll("'", "''")}'${open ? " AND ExecutionStatus = 'Running'" : ''}`;
    let count = 0;
    if (limit <= 0) return;
    const pageSize = Math.min(limit, 100);
    for await (const info of this.temporal.workflow.list({ query, pageSize })) {
      if (info.status.name === 'CONTINUED_AS_NEW') continue;
      yield await this.#summarize(info);
      count += 1;
      if (count >= limit) return;
    }
  }

  /** Closes the connection, unless it was given. */
  async close(): Promise<void> {
    await this.#ownConnection?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #summarize(info: WorkflowExecutionInfo): Promise<AgentSummary> {
    const { workflowId, memo } = info;
    const lifetime = memo?.['lifetime'];
    const summary =
      typeof memo?.['summary'] === 'string' ? memo['summary'] : await this.#summaryOf(info);
    return {
      workflowId,
      status: statusNames[info.status.name] ?? 'running',
      startedAt: info.startTime,
      ...(info.closeTime === undefined ? {} : { closedAt: info.closeTime }),
      ...(lifetime === 'run' || lifetime === 'session' ? { lifetime } : {}),
      ...(summary === undefined ? {} : { summary }),
    };
  }

  /** The static summary of an agent that another client started. */
  async #summaryOf({ workflowId, runId }: WorkflowExecutionInfo): Promise<string | undefined> {
    try {
      const description = await this.temporal.workflow.getHandle(workflowId, runId).describe();
      return await description.staticSummary();
    } catch {
      // Its retention ended meanwhile.
      return undefined;
    }
  }
}

const statusNames: { readonly [name: string]: AgentSummary['status'] } = {
  RUNNING: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'canceled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timedOut',
  PAUSED: 'paused',
};
