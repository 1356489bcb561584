// A worker's start and its memory: the bundle when it must be built, a process when it is cached, what it
// holds when idle and after sessions have passed through it.

import { join } from 'node:path';
import { AgentClient } from '../src/client/index.js';
import { startScriptedModel } from '../src/testing/scripted-model.js';
import { bundleWorkflows } from '../src/worker/bundle.js';
import { residentMegabytes, startWorkerProcess } from './processes.js';
import type { Measure } from './report.js';
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

    const starts: number[] = [];
    const idle: number[] = [];
    const used: number[] = [];
    for (let i = 0; i < samples; i++) {
      const taskQueue = `start-up-${i}`;
      await using worker = await startWorkerProcess({
        kind: 'holdfast',
        address,
        taskQueue,
        baseURL,
        workspace: folder,
      });
      starts.push(worker.startMs);
      idle.push(await residentMegabytes(worker.pid));
      if (i > 0) continue;
      await using client = await AgentClient.connect({ address, taskQueue });
      for (let done = 0; done < sessions; done += 10) {
        const runs = Array.from({ length: 10 }, async () => {
          const prompt = turnPrompt({ turns: 20, bytes: 4_096 });
          await (await client.start(JSON.stringify(prompt))).result();
        });
        await Promise.all(runs);
      }
      used.push(await residentMegabytes(worker.pid));
      log(`${sessions} sessions: done`);
    }
    await model.close();
    return {
      measure: 'start-up',
      conditions: 'TypeScript run by tsx, as in a checkout',
      rows: [
        { what: 'building the workflow bundle', unit: 'ms', samples: bundles },
        { what: 'process start → polling, bundle cached', unit: 'ms', samples: starts },
        { what: 'memory, idle', unit: 'MB', samples: idle },
        {
          what: `memory after ${sessions} sessions of 20 turns with 4 KB results, ten at a time`,
          unit: 'MB',
          samples: used,
        },
      ],
    };
  },
};
