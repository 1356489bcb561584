// Live text: from the moment the provider sends a piece of text until a follower of the session has it.

import { setTimeout as sleep } from 'node:timers/promises';
import { AgentClient } from '../src/client/index.js';
import { chunk, startScriptedModel, reply, step } from '../src/testing/scripted-model.js';
import { startWorkerProcess } from './processes.js';
import { createRandom } from './random.js';
import type { Measure } from './report.js';

interface Gate {
  readonly promise: Promise<void>;
  readonly open: () => void;
}

function createGate(): Gate {
  let open = () => {};
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

export const liveText: Measure = {
  name: 'live-text',
  what: 'provider chunk → follower',
  async run({ address, folder, samples = 200, seed, log }) {
    const random = createRandom(seed);
    const gates = Array.from({ length: samples }, () => createGate());
    const model = await startScriptedModel(() =>
      reply.raw([
        step.headers,
        ...gates.flatMap(({ promise }, index) => [
          step.until(promise),
          chunk.text(`piece ${index}; `),
        ]),
        chunk.finish('stop'),
        chunk.done,
      ]),
    );
    const taskQueue = 'live-text';
    await using _worker = await startWorkerProcess({
      kind: 'holdfast',
      address,
      taskQueue,
      baseURL: model.baseURL,
      workspace: folder,
    });
    await using client = await AgentClient.connect({ address, taskQueue });
    const run = await client.start('Speak.');

    const sentAt: number[] = [];
    const seenAt: number[] = [];
    const following = (async () => {
      for await (const event of run.events()) {
        const text =
          event.type === 'message_update'
            ? event.text
            : event.type === 'message_end' && event.unshown !== undefined
              ? event.unshown
              : '';
        const now = performance.now();
        for (const _ of text.matchAll(/;/g)) seenAt.push(now);
      }
    })();
    await model.request(0);
    for (const { open } of gates) {
      await sleep(20 + random() * 160);
      sentAt.push(performance.now());
      open();
    }
    await following;
    await model.close();
    if (seenAt.length !== samples) {
      throw new Error(`${samples} pieces were sent, ${seenAt.length} were seen.`);
    }
    log(`${samples} pieces seen`);
    return {
      measure: 'live-text',
      conditions: `${samples} pieces, one each 20 to 180 ms, read from \`run.events()\` in another process than the worker's`,
      rows: [
        {
          what: 'sent → yielded to the follower',
          unit: 'ms',
          samples: sentAt.map((at, index) => (seenAt[index] ?? Number.NaN) - at),
          bar: { of: 'median', atMost: 500 },
        },
      ],
    };
  },
};
