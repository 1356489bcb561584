// A Temporal worker for agents: the bundled workflow, the activities of a config, and the time-outs that
// make aborts and failovers fast.

import { Worker } from '@temporalio/worker';
import type { NativeConnection } from '@temporalio/worker';
import { createActivities } from '../activities/index.js';
import type { WorkerConfig } from '../activities/definitions.js';
import { defaultTaskQueue } from '../protocol/session.js';
import { bundleWorkflows } from './bundle.js';
import { refusingStorage } from './refused-references.js';

export interface AgentWorkerOptions {
  readonly config: WorkerConfig;
  readonly connection: NativeConnection;
  /** Default `default`. */
  readonly namespace?: string;
  /** Default `holdfast`. */
  readonly taskQueue?: string;
  /** Path of a workflow bundle. Default: built once and cached by content. */
  readonly bundlePath?: string;
  /** Where secrets and tools' variables are read. Default: `process.env`. */
  readonly environment?: { readonly [name: string]: string | undefined };
  /** Shown in the Web UI. Default: process id and host. */
  readonly identity?: string;
}

/** Time for an activity to end once it was told that its worker's grace is over. */
const forceAfterGraceMs = 15_000;

/**
 * The SDK ends workflow code that takes five seconds by the clock, and the whole process dies of it ("async
 * hook stack has become corrupted"): also when the machine was just busy, or the process was suspended. Our
 * code has no endless loop, and the server gives a task that takes ten seconds to another worker. The option
 * is the SDK's, though not in its types.
 */
const patientSandbox = { isolateExecutionTimeout: '10 minutes' };

/**
 * Creates a worker; `run()` polls until `shutdown()`.
 *
 * Told to stop, it lets its activities finish within `config.shutdownGraceMs`; then model calls and retryable
 * tools go on elsewhere, and a tool that must not run twice ends with an unknown outcome.
 */
export async function createAgentWorker(options: AgentWorkerOptions): Promise<Worker> {
  const { config, connection, namespace = 'default', taskQueue = defaultTaskQueue } = options;
  return await Worker.create({
    ...patientSandbox,
    connection,
    namespace,
    taskQueue,
    workflowBundle: { codePath: options.bundlePath ?? (await bundleWorkflows()) },
    activities: createActivities({ config, environment: options.environment ?? process.env }),
    dataConverter: { externalStorage: refusingStorage },
    ...(options.identity === undefined ? {} : { identity: options.identity }),
    // Heartbeats carry aborts: their throttle is what an abort waits for.
    maxHeartbeatThrottleInterval: 250,
    defaultHeartbeatThrottleInterval: 250,
    // How long a session waits for a dead worker before another takes it over, queries included.
    stickyQueueScheduleToStartTimeout: '1 second',
    shutdownGraceTime: config.shutdownGraceMs,
    shutdownForceTime: config.shutdownGraceMs + forceAfterGraceMs,
  });
}
