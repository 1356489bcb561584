// The Temporal workers of one config: the bundled workflow and all activities on the main task queue, tool
// calls on the queue of each named workspace, and the time-outs that make aborts and failovers fast.

import { Worker } from '@temporalio/worker';
import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import type { WorkerConfig } from '../activities/definitions.js';
import { toOwnActivities } from '../activities/own-activities.js';
import type { AgentActivities } from '../protocol/activities.js';
import { defaultTaskQueue, defaultWorkspaceName } from '../protocol/session.js';
import { workspaceTaskQueue } from '../protocol/workspace.js';
import { toAgentWorker } from './agent-worker.js';
import type { AgentWorker, QueueWorker } from './agent-worker.js';
import { bundleWorkflows } from './bundle.js';
import { loadActivities } from './late-activities.js';
import { bundleOwnWorkflows } from './own-bundle.js';
import { refusingStorage } from './refused-references.js';

export interface AgentWorkerOptions {
  readonly config: WorkerConfig;
  readonly connection: NativeConnection;
  /** Default `default`. */
  readonly namespace?: string;
  /** The main task queue; those of named workspaces are named after it. Default `holdfast`. */
  readonly taskQueue?: string;
  /** Serve the main task queue also where the config declares named workspaces only. */
  readonly servesMainQueue?: boolean;
  /** Path of a workflow bundle. Default: of the config's `workflows`, built once and cached by content. */
  readonly bundlePath?: string;
  /** Where secrets and tools' variables are read. Default: `process.env`. */
  readonly environment?: { readonly [name: string]: string | undefined };
  /** Shown in the Web UI. Default: process id and host. */
  readonly identity?: string;
}

/** Time for an activity to end once it was told that its worker's grace is over. */
export const forceAfterGraceMs = 15_000;

/**
 * The SDK ends workflow code that takes five seconds by the clock, and the whole process dies of it ("async
 * hook stack has become corrupted"): also when the machine was just busy, or the process was suspended. Our
 * code has no endless loop, and the server gives a task that takes ten seconds to another worker. The option
 * is the SDK's, though not in its types.
 */
const patientSandbox = { isolateExecutionTimeout: '10 minutes' };

/**
 * Creates a worker; `run()` polls until `shutdown()`. It serves the main task queue if its config declares the
 * workspace `default`, and the queue of each named workspace that the config declares.
 *
 * Told to stop, it lets its activities finish within `config.shutdownGraceMs`; then model calls and retryable
 * tools go on elsewhere, and a tool that must not run twice ends with an unknown outcome.
 */
export async function createAgentWorker(options: AgentWorkerOptions): Promise<AgentWorker> {
  const { config, connection, namespace = 'default', taskQueue = defaultTaskQueue } = options;
  const environment = options.environment ?? process.env;
  const { activities, loaded } = loadActivities({ config, environment });
  // Whatever else a session does, it does on the main queue.
  const ofWorkspaces: Pick<AgentActivities, 'callTool' | 'reachWorkspace'> = {
    callTool: (input) => activities.callTool(input),
    reachWorkspace: () => activities.reachWorkspace(),
  };
  const common = {
    connection,
    namespace,
    dataConverter: { externalStorage: refusingStorage },
    ...(options.identity === undefined ? {} : { identity: options.identity }),
    // Heartbeats carry aborts: their throttle is what an abort waits for.
    maxHeartbeatThrottleInterval: 250,
    defaultHeartbeatThrottleInterval: 250,
    shutdownGraceTime: config.shutdownGraceMs,
    shutdownForceTime: config.shutdownGraceMs + forceAfterGraceMs,
  };
  const servesMainQueue = options.servesMainQueue === true || declaresMainQueue(config);
  const queues: WorkerOptions[] = namedWorkspaces(config).map((workspace) => ({
    ...common,
    taskQueue: workspaceTaskQueue(taskQueue, workspace),
    activities: ofWorkspaces,
  }));
  if (servesMainQueue) {
    queues.unshift({
      ...common,
      ...patientSandbox,
      taskQueue,
      workflowBundle: { codePath: options.bundlePath ?? (await bundleOf(config)) },
      activities: { ...toOwnActivities(config.activities ?? {}), ...activities },
      // How long a session waits for a dead worker before another takes it over, queries included.
      stickyQueueScheduleToStartTimeout: '1 second',
    });
  }
  return toAgentWorker(await createAll(queues, loaded), servesMainQueue);
}

/** Names of the workspaces that have a task queue of their own. */
export function namedWorkspaces(config: WorkerConfig): readonly string[] {
  return Object.keys(config.workspaces).filter((name) => name !== defaultWorkspaceName);
}

function declaresMainQueue({ workspaces }: WorkerConfig): boolean {
  const names = Object.keys(workspaces);
  return names.length === 0 || names.includes(defaultWorkspaceName);
}

async function createAll(
  queues: readonly WorkerOptions[],
  loaded: Promise<unknown>,
): Promise<readonly QueueWorker[]> {
  const workers: QueueWorker[] = [];
  try {
    for (const queue of queues) {
      workers.push({ taskQueue: queue.taskQueue, worker: await Worker.create(queue) });
    }
    await loaded;
    return workers;
  } catch (error) {
    // One that never ran would hold the connection for ever.
    for (const { worker } of workers) await worker.runUntil(Promise.resolve());
    throw error;
  }
}

async function bundleOf({ workflows }: WorkerConfig): Promise<string> {
  return workflows === undefined ? await bundleWorkflows() : await bundleOwnWorkflows(workflows);
}
