// What polls for one config: a worker of the SDK per task queue, run and stopped as one.

import type { Worker } from '@temporalio/worker';

export interface AgentWorker {
  /** The task queues that are polled, the main one first where it is served. */
  readonly taskQueues: readonly string[];
  /** False: tools of named workspaces only. Sessions go on only where another worker serves the main queue. */
  readonly servesMainQueue: boolean;
  /**
   * Polls until `shutdown()` and until what runs has ended.
   * @throws what one of the queues failed with, once the others have shut down
   */
  run(): Promise<void>;
  /** Takes nothing more and lets what runs finish within the grace time. Nothing when it does not run. */
  shutdown(): void;
}

export interface QueueWorker {
  readonly taskQueue: string;
  readonly worker: Worker;
}

export function toAgentWorker(
  workers: readonly QueueWorker[],
  servesMainQueue: boolean,
): AgentWorker {
  const shutdown = () => {
    for (const { worker } of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    taskQueues: workers.map(({ taskQueue }) => taskQueue),
    servesMainQueue,
    shutdown,
    async run() {
      const failures: unknown[] = [];
      const running = workers.map(({ worker }) =>
        worker.run().catch((error: unknown) => {
          failures.push(error);
          // A process that serves half of what it says would leave the other half to nobody.
          shutdown();
        }),
      );
      await Promise.all(running);
      if (failures.length > 0) throw failures[0];
    },
  };
}
