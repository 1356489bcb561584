// A worker in this process, from its start to its graceful end.

import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import type { LogLevel } from '@temporalio/worker';
import type { WorkerConfig } from '../activities/definitions.js';
import { AgentClientError, reasonOf, serverSettings, toConnectError } from '../client/index.js';
import { keepHealthFile } from './health-file.js';
import type { ServerFlags } from './options.js';
import type { AgentWorker } from '../worker/agent-worker.js';
import { createAgentWorker } from '../worker/create-worker.js';
import type { Terminal } from './terminal.js';

export interface ServingOptions extends ServerFlags {
  readonly config: WorkerConfig;
  readonly taskQueue: string;
  readonly logLevel: LogLevel;
  /** Serve the main task queue whatever workspaces the config declares. */
  readonly servesMainQueue?: boolean;
}

export interface ServingWorker {
  readonly address: string;
  readonly namespace: string;
  readonly worker: AgentWorker;
  readonly connection: NativeConnection;
}

/** @throws ServerUnreachable, or another AgentClientError when the server refuses the connection */
export async function createServingWorker(options: ServingOptions): Promise<ServingWorker> {
  // Signals are handled by `runUntilSignal`.
  Runtime.install({ logger: new DefaultLogger(options.logLevel), shutdownSignals: [] });
  const { address, namespace, connectionOptions } = serverSettings(options);
  let connection: NativeConnection;
  try {
    connection = await NativeConnection.connect(connectionOptions);
  } catch (error) {
    throw toConnectError(address, error);
  }
  const { config, taskQueue, servesMainQueue = false } = options;
  try {
    const worker = await createAgentWorker({
      config,
      connection,
      namespace,
      taskQueue,
      servesMainQueue,
    });
    return { address, namespace, worker, connection };
  } catch (error) {
    await connection.close();
    throw toStartError(error, address, namespace);
  }
}

/** The SDK looks the namespace up, and says in one error that there is none and that nothing could be learnt. */
function toStartError(error: unknown, address: string, namespace: string): unknown {
  const reason = reasonOf(error);
  if (!/^Namespace .* could not be described/.test(reason)) return error;
  const problem = /code: NotFound/.test(reason)
    ? `has no namespace '${namespace}'; register it with \`temporal operator namespace create --namespace ${namespace}\`, or choose another with --namespace or TEMPORAL_NAMESPACE.`
    : `could not say whether it has the namespace '${namespace}'; try again when its database is there: ${reason}`;
  return new AgentClientError(`The Temporal server at ${address} ${problem}`, { cause: error });
}

export interface RunOptions {
  /** Says that the worker is there: whoever reads it may send a signal. */
  readonly announce: () => void;
  /** What is said when a second signal leaves at once. */
  readonly last?: () => string;
  /** Touched for as long as the worker runs. */
  readonly healthFile?: string | undefined;
}

/**
 * Polls until SIGINT or SIGTERM; then lets what runs finish within the grace time. A second signal leaves
 * at once: what it cuts off goes on elsewhere.
 */
export async function runUntilSignal(
  { worker, connection }: ServingWorker,
  terminal: Terminal,
  { announce, last, healthFile }: RunOptions,
): Promise<void> {
  let isStopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isStopping) {
      if (last !== undefined) terminal.note(last());
      process.exit(signal === 'SIGTERM' ? 143 : 130);
    }
    isStopping = true;
    terminal.note('Stopping: what runs may finish. Once more leaves at once.');
    worker.shutdown();
  };
  // A promise that a tool or hook left behind is its own fault, and no reason to end every session here.
  const onRejection = (reason: unknown): void => {
    terminal.note(`A promise was rejected and nobody looked: ${reasonOf(reason)}`);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('unhandledRejection', onRejection);
  let removeHealthFile = () => {};
  const stopWatching = watchNpm(() => onSignal('SIGTERM'));
  try {
    announce();
    const running = worker.run();
    try {
      if (healthFile !== undefined) removeHealthFile = keepHealthFile(healthFile);
    } catch (error) {
      worker.shutdown();
      await running;
      throw error;
    }
    await running;
  } finally {
    removeHealthFile();
    stopWatching();
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal).off('unhandledRejection', onRejection);
    await connection.close();
  }
}

/**
 * Whoever stops `npx holdfast` stops npm, which passes the signal to the shell between us: it dies of it and
 * tells nobody. All we see is another parent.
 */
function watchNpm(onGone: () => void): () => void {
  const parent = process.ppid;
  if ((process.env['npm_lifecycle_event'] ?? '') === '') return () => {};
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    onGone();
  }, 500);
  return () => clearInterval(watch);
}
