// A world for workflow tests: the test run's Temporal server, a scripted model, a workspace folder and
// workers with the real activities, on a task queue of its own.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { createBuiltInTools } from '../../src/activities/tools/index.js';
import { AgentClient } from '../../src/client/index.js';
import type { AgentRun } from '../../src/client/index.js';
import { resolveConfig } from '../../src/config/index.js';
import type { ModelConfig, UserConfig } from '../../src/config/index.js';
import type { ReportedEvent } from '../../src/protocol/events.js';
import type { Message } from '../../src/protocol/messages.js';
import { findViolations } from '../../src/testing/invariants.js';
import { recordSession } from '../../src/testing/record-session.js';
import type { RecordedRun } from '../../src/testing/record-session.js';
import type { SessionRecord } from '../../src/testing/session-record.js';
import { startScriptedModel } from '../../src/testing/scripted-model.js';
import type { Script, ScriptedModel } from '../../src/testing/scripted-model.js';
import { createAgentWorker } from '../../src/worker/create-worker.js';
import { refusingStorage } from '../../src/worker/refused-references.js';
import './provided.js';

export interface AgentWorldOptions {
  readonly script?: Script;
  /** Merged over a config with the scripted model, one agent and the four built-in tools. */
  readonly config?: UserConfig;
  /** Makes the config's models of the scripted one. Default: it alone, as `default`. */
  readonly models?: (scripted: ModelConfig) => NonNullable<UserConfig['models']>;
  readonly environment?: { readonly [name: string]: string | undefined };
  /** Path of a workflow bundle. Default: the one of Holdfast's own workflows. */
  readonly bundlePath?: string;
}

export interface AgentWorld extends AsyncDisposable {
  readonly client: AgentClient;
  readonly model: ScriptedModel;
  readonly taskQueue: string;
  /** The workers' connection, for workers of another kind. */
  readonly connection: NativeConnection;
  /** Absolute path of the default workspace. */
  readonly workspace: string;
  /** Of the workflow bundle that its workers have. */
  readonly bundlePath: string;
  /** Starts a further worker, with its config changed as said, and returns how to stop it. */
  addWorker(changes?: UserConfig): Promise<() => Promise<void>>;
  /** Stops all workers there are. */
  stopWorkers(): Promise<void>;
}

/** Keeps what workers log out of the tests' output. */
Runtime.install({ logger: new DefaultLogger('ERROR', () => {}) });

/** One worker runs from the start; all stop when the world is disposed of. */
export async function createAgentWorld(options: AgentWorldOptions = {}): Promise<AgentWorld> {
  const address = inject('serverAddress');
  const model = await startScriptedModel(options.script ?? []);
  const workspace = await mkdtemp(join(tmpdir(), 'holdfast-workspace-'));
  const taskQueue = `test-${crypto.randomUUID()}`;
  const environment = options.environment ?? { ...process.env, MODEL_KEY: 'sk-test-key-0001' };
  const scripted = { model: 'scripted', baseURL: model.baseURL, apiKeyEnv: 'MODEL_KEY' };
  const configWith = (changes: UserConfig = {}) =>
    resolveConfig(
      {
        models: options.models?.(scripted) ?? { default: scripted },
        agents: {
          default: { systemPrompt: 'You are a test.', tools: ['bash', 'read', 'write', 'edit'] },
        },
        workspaces: { default: { root: workspace } },
        ...options.config,
        ...changes,
      },
      { environment, builtInTools: createBuiltInTools(), directory: workspace },
    );
  const { bundlePath = inject('bundlePath') } = options;
  const connection = await NativeConnection.connect({ address });
  const stops: (() => Promise<void>)[] = [];

  const addWorker = async (changes?: UserConfig) => {
    const worker = await createAgentWorker({
      config: configWith(changes),
      connection,
      taskQueue,
      bundlePath,
      environment,
    });
    const ended = worker.run();
    const stop = async () => {
      worker.shutdown();
      await ended;
    };
    stops.push(stop);
    return stop;
  };
  await addWorker();
  const client = await AgentClient.connect({
    connection: await Connection.connect({
      address,
      // A page of a history may be larger than what gRPC takes by default.
      channelArgs: { 'grpc.max_receive_message_length': -1 },
    }),
    taskQueue,
  });

  return {
    client,
    model,
    taskQueue,
    connection,
    workspace,
    bundlePath,
    addWorker,
    async stopWorkers() {
      for (const stop of stops) await stop();
    },
    async [Symbol.asyncDispose]() {
      for (const stop of stops) await stop();
      await client.temporal.connection.close();
      await connection.close();
      await rm(workspace, { recursive: true, force: true });
      await model.close({ expectFaults: true });
    },
  };
}

export async function eventsOf(run: Pick<AgentRun, 'loggedEvents'>): Promise<ReportedEvent[]> {
  const events: ReportedEvent[] = [];
  for await (const event of run.loggedEvents()) events.push(event);
  return events;
}

export async function messagesOf(run: Pick<AgentRun, 'messages'>): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const message of run.messages()) messages.push(message);
  return messages;
}

/**
 * The breaches of the invariants by a session, replay of its history included. Events and messages that are
 * given are not read: of a log that keeps its end alone no whole record can be made.
 */
export async function violationsOf(
  world: Pick<AgentWorld, 'client'> & Partial<Pick<AgentWorld, 'bundlePath'>>,
  run: RecordedRun,
  expected: Partial<SessionRecord> = {},
): Promise<readonly string[]> {
  const { events, messages } = expected;
  const record =
    events === undefined || messages === undefined
      ? await recordSession(run)
      : { events, messages };
  const history = await world.client.temporal.workflow.getHandle(run.workflowId).fetchHistory();
  await Worker.runReplayHistory(
    {
      workflowBundle: { codePath: world.bundlePath ?? inject('bundlePath') },
      dataConverter: { externalStorage: refusingStorage },
    },
    history,
    run.workflowId,
  );
  return findViolations({ ...record, ...expected });
}
