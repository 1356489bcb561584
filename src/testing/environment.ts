// A place to test one's own agent in: a Temporal server, a worker in this process, a scripted model, an
// empty workspace and a client. Everything is real but the model; all of it is gone when it is closed.

import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '@temporalio/client';
import type { Duration } from '@temporalio/common';
import type { NativeConnection } from '@temporalio/worker';
import { createBuiltInTools } from '../activities/tools/index.js';
import { AgentClient } from '../client/index.js';
import { resolveConfig } from '../config/index.js';
import { connectClient } from '../client/connection.js';
import type { ResolvedConfig, UserConfig } from '../config/index.js';
import { defaultTaskQueue, defaultWorkspaceName } from '../protocol/session.js';
import { createAgentWorker } from '../worker/create-worker.js';
import { startScriptedModel } from './scripted-model.js';
import type { Script, ScriptedModel } from './scripted-model.js';
import { startTestServer } from './test-server.js';
import type { TestServerOptions } from './test-server-options.js';
import { TimeSkippingClient } from './time-skipping-client.js';

export interface TestEnvironmentOptions extends TestServerOptions {
  /**
   * As in `holdfast.config.ts`, tools and agents included. Its models keep their names and are all the
   * scripted one; its workspaces are empty folders, so that no test touches a real one.
   */
  readonly config?: UserConfig;
  /** What the model answers. Default: nothing yet; `model.add` adds to it. */
  readonly script?: Script;
  /**
   * The file with workflows of one's own. Default: the config's `workflows`. Relative to the working directory,
   * as nobody knows where a config that was imported lies.
   */
  readonly workflowsPath?: string | URL;
  /** What tools and the config read as environment variables. Default: `process.env`. */
  readonly environment?: { readonly [name: string]: string | undefined };
}

export interface TestEnvironment extends AsyncDisposable {
  /** Its `temporal` is Temporal's own client, for workflows of one's own. */
  readonly client: AgentClient;
  readonly model: ScriptedModel;
  /** Absolute path of the default workspace. */
  readonly workspace: string;
  readonly taskQueue: string;
  /** `host:port` of the server. */
  readonly address: string;
  /** For further workers. */
  readonly connection: NativeConnection;
  /** Lets so much of the server's time pass: at once where it skips time. */
  sleep(duration: Duration): Promise<void>;
  /** The server's time. */
  currentTimeMs(): Promise<number>;
  /**
   * Stops the worker and the server and removes the workspaces; `await using` does so by itself.
   * @throws when the model was asked what its script does not answer, unless that is expected
   */
  close(options?: { readonly expectFaults?: boolean }): Promise<void>;
}

/**
 * Starts an environment in well under a second; one per test file is enough, each session has its own id.
 *
 * With `timeSkipping` time passes at once while a `result()` is awaited and during `sleep`: retry delays,
 * `idleTimeout`, a workflow's own `sleep('30 days')`. Elsewhere, as while events are followed, it passes at
 * its usual pace, and so it does while an activity is executed: a tool that takes six seconds takes six
 * seconds and its heartbeats come in time. Time is one for all sessions of the environment.
 *
 * The server that skips time is not the one that production runs. It cannot list workflows
 * (`client.list()`), has no schedules, no visibility queries, and no pausing of workflows and activities; its
 * payload and history limits are others. Signals, queries, updates, cancellation, heartbeats, describing
 * with live views, continue-as-new and histories work. Leave `timeSkipping` out for the local server, which
 * is the real one.
 */
export async function createTestEnvironment(
  options: TestEnvironmentOptions = {},
): Promise<TestEnvironment> {
  const closing = new Closing();
  try {
    return await create(options, closing);
  } catch (error) {
    await closing.close().catch(() => {});
    throw error;
  }
}

async function create(options: TestEnvironmentOptions, closing: Closing): Promise<TestEnvironment> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'holdfast-test-'));
  closing.add(() => rm(folder, { recursive: true, force: true }));
  let expectFaults = false;
  const model = await startScriptedModel(options.script ?? []);
  closing.add(() => model.close({ expectFaults }));

  const { environment = process.env } = options;
  const config = await testConfig(options, { model, folder, environment });
  const server = await startTestServer(options);
  closing.add(() => server.teardown());
  const { address, namespace = 'default', nativeConnection } = server;
  // The SDK's own, closed while a result is awaited, would end the process from a timer.
  const connection = await connectClient({ address, namespace, connectionOptions: { address } });
  closing.add(() => connection.close());
  // A server that others use as well needs a queue of its own.
  const taskQueue = options.config?.taskQueue ?? `${defaultTaskQueue}-${crypto.randomUUID()}`;
  const worker = await createAgentWorker({
    config,
    connection: nativeConnection,
    namespace,
    taskQueue,
    environment,
    servesMainQueue: true,
  });
  const ended = worker.run();
  ended.catch(() => {});
  closing.add(async () => {
    worker.shutdown();
    await ended;
  });

  const sleep = (duration: Duration) => server.sleep(duration);
  const temporal = server.supportsTimeSkipping
    ? new TimeSkippingClient({ connection, namespace }, sleep)
    : new Client({ connection, namespace });
  const client = await AgentClient.connect({ client: temporal, address, taskQueue });
  return {
    client,
    model,
    workspace: config.workspaces[defaultWorkspaceName]?.root ?? folder,
    taskQueue,
    address,
    connection: nativeConnection,
    sleep,
    currentTimeMs: () => server.currentTimeMs(),
    close: async (closeOptions) => {
      expectFaults = closeOptions?.expectFaults ?? false;
      await closing.close();
    },
    [Symbol.asyncDispose]: () => closing.close(),
  };
}

async function testConfig(
  { config = {}, workflowsPath = config.workflows }: TestEnvironmentOptions,
  {
    model,
    folder,
    environment,
  }: {
    readonly model: ScriptedModel;
    readonly folder: string;
    readonly environment: { readonly [name: string]: string | undefined };
  },
): Promise<ResolvedConfig> {
  const models = config.models ?? { default: { model: 'scripted' } };
  const workspaces = config.workspaces ?? { [defaultWorkspaceName]: { root: '.' } };
  const scripted = Object.entries(models).map(([name, definition]) => {
    const { apiKeyEnv: _, headersEnv: __, ...rest } = definition;
    return [name, { ...rest, baseURL: model.baseURL }];
  });
  const empty = await Promise.all(
    Object.entries(workspaces).map(async ([name, workspace]) => {
      const root = join(folder, name);
      await mkdir(root);
      return [name, { ...workspace, root }];
    }),
  );
  return resolveConfig(
    {
      ...config,
      models: Object.fromEntries(scripted),
      workspaces: Object.fromEntries(empty),
      ...(workflowsPath === undefined
        ? {}
        : { workflows: workflowsPath instanceof URL ? workflowsPath : resolve(workflowsPath) }),
      // What a test leaves behind need not end well.
      shutdownGrace: 1,
    },
    { environment, builtInTools: createBuiltInTools, directory: folder },
  );
}

/** What must be closed, the last one first; what fails does not keep the rest from being closed. */
class Closing {
  readonly #closes: (() => Promise<unknown>)[] = [];
  #closed: Promise<void> | undefined;

  add(close: () => Promise<unknown>): void {
    this.#closes.push(close);
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (const close of this.#closes.toReversed()) {
      await close().catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
  }
}
