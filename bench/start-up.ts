// A worker's start and its memory: the bundle when it must be built, a process when it is cached, what it
// holds when idle and after sessions have passed through it. Beside it a worker of the bare loop.

import { join } from 'node:path';
import { startScriptedModel } from '../src/testing/scripted-model.js';
import { bundleWorkflows } from '../src/worker/bundle.js';
import { residentMegabytes } from './processes.js';
import type { Measure } from './report.js';
import { eachSide, sideRows, startSideBySide } from './side-by-side.js';
import type { EachSide } from './side-by-side.js';
import { turnPrompt, turnReply } from './turn-script.js';

const sessions = 50;

export const startUp: Measure = {
  name: 'start-up',
  what: "a worker's start and memory",
  async run({ address, folder, samples = 5, log }) {
    const model = await startScriptedModel((body) => turnReply(body));
    const { baseURL } = model;
    const bundles: number[] = [];
    for (let i = 0; i < Math.min(3, samples); i++) {
      const startedAt = performance.now();
      await bundleWorkflows({ cacheDirectories: [join(folder, `cache-${i}`)] });
      bundles.push(performance.now() - startedAt);
    }
    const startedAt = performance.now();
    await bundleWorkflows();
    const first = performance.now() - startedAt;
    log(`bundles: done, the shared one in ${Math.round(first)} ms`);

    const fresh: EachSide<{ readonly startMs: number; readonly megabytes: number }>[] = [];
    const used: EachSide<number>[] = [];
    for (let i = 0; i < samples; i++) {
      await using both = await startSideBySide({ address, baseURL, folder, name: `start-up-${i}` });
      fresh.push(
        await eachSide(async (side) => {
          const { pid, startMs } = both.workers[side];
          return { startMs, megabytes: await residentMegabytes(pid) };
        }),
      );
      if (i > 0) continue;
      used.push(
        await eachSide(async (side) => {
          for (let done = 0; done < sessions; done += 10) {
            const runs = Array.from({ length: 10 }, () =>
              both.runSession(side, turnPrompt({ turns: 20, bytes: 4_096 })),
            );
            await Promise.all(runs);
          }
          return residentMegabytes(both.workers[side].pid);
        }),
      );
      log(`${sessions} sessions each: done`);
    }
    await model.close();
    return {
      measure: 'start-up',
      conditions: 'TypeScript run by tsx, as in a checkout',
      rows: [
        { what: 'building the workflow bundle', unit: 'ms', samples: bundles },
        ...sideRows('process start → polling, bundle there', 'ms', fresh, ({ startMs }) => startMs),
        ...sideRows('memory, idle', 'MB', fresh, ({ megabytes }) => megabytes),
        ...sideRows(
          `memory after ${sessions} sessions of 20 turns with 4 KB results, ten at a time`,
          'MB',
          used,
          (megabytes) => megabytes,
        ),
      ],
    };
  },
};
