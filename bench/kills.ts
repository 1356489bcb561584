// Kills: the only worker is killed with SIGKILL at random moments while runs with mixed tools go through it,
// and started again. At the end every run must have ended with the right transcript, and no effect of a
// tool that must not run twice may have happened twice.

import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentClient } from '../src/client/index.js';
import type { AgentRun } from '../src/client/index.js';
import { startScriptedModel } from '../src/testing/scripted-model.js';
import { checkRun } from './kill-check.js';
import { editedFile, promptOfRun, replyOfRun } from './kill-script.js';
import type { KillRun } from './kill-script.js';
import { startWorkerProcess } from './processes.js';
import { createRandom } from './random.js';
import type { Measure, MeasureOptions, Report } from './report.js';

/** Runs under way at any time: a kill meets each of them elsewhere. */
const concurrentRuns = 2;

/** The longest time from a worker that polls to its kill. */
const maxLifeMs = 9_000;

/** A run that has not ended so long after the last kill is stuck. */
const stuckAfterMs = 120_000;

export const kills = {
  name: 'kills',
  what: 'SIGKILLs of the worker at random moments',
  async run({
    address,
    folder,
    kills: wanted,
    seed,
    log,
  }: Omit<MeasureOptions, 'server'>): Promise<Report> {
    log(`seed ${seed}`);
    const random = createRandom(seed);
    const model = await startScriptedModel((body) => replyOfRun(body));
    const taskQueue = 'kills';
    const { baseURL } = model;
    const options = { kind: 'holdfast', address, taskQueue, baseURL, workspace: folder } as const;
    await using client = await AgentClient.connect({ address, taskQueue });

    const isOver = new AbortController();
    const runs: { readonly plan: KillRun; readonly run: AgentRun }[] = [];
    const failures: string[] = [];
    const startRuns = async (lane: number) => {
      for (let i = 0; !isOver.signal.aborted; i++) {
        const plan: KillRun = { seed, name: `lane${lane}-run${i}` };
        await writeFile(join(folder, editedFile(plan)), 'BEGIN\nEND\n');
        const run = await client.start(promptOfRun(plan));
        runs.push({ plan, run });
        await run
          .result()
          .catch((error: unknown) => failures.push(`${plan.name}: ${String(error)}`));
      }
    };
    let worker = await startWorkerProcess(options);
    const lanes = Array.from({ length: concurrentRuns }, (_, lane) => startRuns(lane));
    for (let kill = 1; kill <= wanted; kill++) {
      await sleep(random() * maxLifeMs);
      worker.kill();
      worker = await startWorkerProcess(options);
      if (kill % 10 === 0) log(`${kill} kills, ${runs.length} runs`);
    }
    isOver.abort();
    const isEnded = await Promise.race([
      Promise.all(lanes).then(() => true),
      sleep(stuckAfterMs, false, { ref: false }),
    ]);
    if (!isEnded) failures.push('a run has not ended');

    let unknown = 0;
    for (const { plan, run } of isEnded ? runs : []) {
      const { violations, unknownOutcomes } = await checkRun(client, run, plan, folder);
      unknown += unknownOutcomes;
      failures.push(...violations.map((violation) => `${plan.name}: ${violation}`));
    }
    await worker[Symbol.asyncDispose]();
    await model.close({ expectFaults: true });
    if (failures.length > 0) {
      const kept = await keepHistories(client, runs);
      log(`seed ${seed}, histories in ${kept}:\n${failures.join('\n')}`);
    }
    return {
      measure: 'kills',
      conditions: `seed ${seed}; ${concurrentRuns} runs of ten turns at a time, one worker, killed up to ${maxLifeMs / 1000} s after it polls`,
      rows: [
        { what: 'kills', unit: 'count', samples: [wanted] },
        { what: 'runs', unit: 'count', samples: [runs.length] },
        { what: 'model requests', unit: 'count', samples: [model.requests.length] },
        { what: 'results with an unknown outcome', unit: 'count', samples: [unknown] },
        {
          what: 'violations',
          unit: 'count',
          samples: [failures.length],
          bar: { of: 'median', atMost: 0 },
        },
      ],
    };
  },
} satisfies Measure;

async function keepHistories(
  client: AgentClient,
  runs: readonly { readonly plan: KillRun; readonly run: AgentRun }[],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-kills-'));
  for (const { plan, run } of runs) {
    const history = await client.temporal.workflow.getHandle(run.workflowId).fetchHistory();
    await writeFile(join(folder, `${plan.name}.json`), JSON.stringify(history));
  }
  return folder;
}
