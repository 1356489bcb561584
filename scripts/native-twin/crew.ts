// The two workers of the twin, each a process of its own; one that was killed gets a successor.

import type { AgentClient } from '../../src/client/index.js';
import type { Belongings } from '../../src/demo/belongings.js';
import { isProcessAlive, startWorkerProcess } from '../../src/demo/worker-process.js';
import type { WorkerProcess, WorkerProcessOptions } from '../../src/demo/worker-process.js';

export const crewSize = 2;

export class Crew {
  readonly #options: Omit<WorkerProcessOptions, 'started'>;
  readonly #belongings: Belongings;
  readonly #workers: WorkerProcess[] = [];

  constructor(options: Omit<WorkerProcessOptions, 'started'>, belongings: Belongings) {
    this.#options = options;
    this.#belongings = belongings;
  }

  /** Starts what is missing; resolves when all poll. */
  async complete(): Promise<void> {
    const missing = Array.from({ length: crewSize - this.#workers.length });
    const started = (worker: WorkerProcess) => this.#belongings.add(() => worker.stop());
    const workers = missing.map(() => startWorkerProcess({ ...this.#options, started }));
    this.#workers.push(...(await Promise.all(workers)));
  }

  /** Kills the worker whose process this is. */
  async kill(pid: number): Promise<void> {
    const index = this.#workers.findIndex((worker) => worker.pid === pid);
    const [worker] = index < 0 ? [] : this.#workers.splice(index, 1);
    if (worker === undefined) throw new Error(`Process ${pid} is no worker of the twin.`);
    await worker.kill();
  }

  /** How many of those that were not killed are there; the others have given up by themselves. */
  async alive(): Promise<number> {
    const states = await Promise.all(this.#workers.map(({ pid }) => isProcessAlive(pid)));
    return states.filter(Boolean).length;
  }
}

export interface RunningActivity {
  readonly type: string;
  /** Process of the worker that executes it. */
  readonly pid: number;
}

/** The activity that a worker executes now; undefined when none is. */
export async function runningActivity(
  client: AgentClient,
  workflowId: string,
): Promise<RunningActivity | undefined> {
  const { raw } = await client.temporal.workflow.getHandle(workflowId).describe();
  for (const { activityType, lastStartedTime, lastWorkerIdentity } of raw.pendingActivities ?? []) {
    // An identity is `process@host`.
    const pid = Number.parseInt(lastWorkerIdentity ?? '', 10);
    if (lastStartedTime != null && pid > 0) return { type: activityType?.name ?? '', pid };
  }
  return undefined;
}
