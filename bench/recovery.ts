// Recovery: the worker that holds a session's cache is killed during a model call; how long until another
// worker, which knows nothing of the session, asks the model again with the whole transcript. Beside it the bare
// loop, which sends no heartbeats: its lost calls are noticed when their time-out of a minute has passed.

import { setTimeout as sleep } from 'node:timers/promises';
import { AgentClient } from '../src/client/index.js';
import { reply, startScriptedModel } from '../src/testing/scripted-model.js';
import { bundleBareLoop } from './bare-bundle.js';
import { startWorkerProcess } from './processes.js';
import { createRandom } from './random.js';
import type { Measure } from './report.js';
import { promptOf, turnPrompt, turnReply, turnsDone } from './turn-script.js';

const turns = 55;
const resultBytes = 4_096;

/** Sessions of the bare loop that lose their worker at once: one kill takes more than a minute. */
const bareSessions = 5;

export const recovery: Measure = {
  name: 'recovery',
  what: 'SIGKILL of the worker during a model call → next request from another',
  async run({ address, folder, samples = 12, seed, log }) {
    const random = createRandom(seed);
    const hung = new Set<string>();
    const model = await startScriptedModel((body) => {
      const { id } = promptOf(body);
      if (turnsDone(body) < turns || hung.has(id)) return turnReply(body);
      hung.add(id);
      return reply.hang();
    });
    const taskQueue = 'recovery';
    const { baseURL } = model;
    const options = { kind: 'holdfast', address, taskQueue, baseURL, workspace: folder } as const;
    await using client = await AgentClient.connect({ address, taskQueue });

    const times: number[] = [];
    const bytes: number[] = [];
    let worker = await startWorkerProcess(options);
    for (let i = 0; i < samples; i++) {
      const prompt = turnPrompt({ turns, bytes: resultBytes });
      const first = model.requests.length;
      const run = await client.start(JSON.stringify(prompt));
      await model.request(first + turns);
      const other = await startWorkerProcess(options);
      await sleep(random() * 1_000);
      const again = model.request(first + turns + 1);
      const killedAt = worker.kill();
      const request = await again;
      times.push(request.at - killedAt);
      bytes.push(Buffer.byteLength(JSON.stringify(request.body.messages)));
      await run.result();
      worker = other;
      log(`${i + 1}: ${Math.round(times.at(-1) ?? 0)} ms`);
    }
    await worker[Symbol.asyncDispose]();

    const bareOptions = {
      kind: 'bare',
      address,
      taskQueue: 'recovery-bare',
      baseURL,
      bundlePath: await bundleBareLoop(folder),
    } as const;
    const bareWorker = await startWorkerProcess(bareOptions);
    const firstBare = model.requests.length;
    const bareRuns = Array.from({ length: bareSessions }, () => {
      const prompt = turnPrompt({ turns, bytes: resultBytes });
      return client.temporal.workflow.execute('bareLoop', {
        taskQueue: bareOptions.taskQueue,
        workflowId: prompt.id,
        args: [JSON.stringify(prompt)],
      });
    });
    const lastBare = firstBare + bareSessions * (turns + 1);
    await model.request(lastBare - 1);
    await using _otherBare = await startWorkerProcess(bareOptions);
    const bareKilledAt = bareWorker.kill();
    await Promise.all(bareRuns);
    const bareTimes = model.requests.slice(lastBare).map(({ at }) => at - bareKilledAt);
    await model.close({ expectFaults: true });
    return {
      measure: 'recovery',
      conditions:
        'workers are processes; the other one polls already when the first is killed; default settings',
      rows: [
        { what: 'transcript in the request', unit: 'bytes', samples: bytes },
        {
          what: 'SIGKILL → request from another worker',
          unit: 'ms',
          samples: times,
          bar: { of: 'median', atMost: 8_000 },
        },
        {
          what: 'bare loop: SIGKILL → request from another worker',
          unit: 'ms',
          samples: bareTimes,
        },
      ],
    };
  },
};
