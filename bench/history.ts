// History bytes: what 300 model calls with 4 KB tool results leave in history, beside what they are made
// of, and the same for a loop that passes the transcript, until the server ends it.

import { AgentClient } from '../src/client/index.js';
import { jsonSize } from '../src/protocol/json.js';
import { startScriptedModel } from '../src/testing/scripted-model.js';
import { bundleBareLoop } from './bare-bundle.js';
import { startWorkerProcess } from './processes.js';
import type { Measure, Row } from './report.js';
import { median } from './statistics.js';
import { promptOf, turnPrompt, turnReply } from './turn-script.js';

const calls = 300;
const resultBytes = 4_096;

export const historyBytes: Measure = {
  name: 'history',
  what: 'history of 300 model calls with 4 KB tool results',
  async run({ address, folder, log }) {
    await using client = await AgentClient.connect({ address, taskQueue: 'history-holdfast' });
    const { workflow } = client.temporal;
    /** Bytes of history at each model request, by workflow id. */
    const sizes = new Map<string, number[]>();
    const model = await startScriptedModel(async (body) => {
      const { id } = promptOf(body);
      const { historySize } = await workflow.getHandle(id).describe();
      sizes.set(id, [...(sizes.get(id) ?? []), historySize ?? Number.NaN]);
      return turnReply(body);
    });
    const { baseURL } = model;
    const bundlePath = await bundleBareLoop(folder);
    await using _holdfast = await startWorkerProcess({
      kind: 'holdfast',
      address,
      baseURL,
      taskQueue: 'history-holdfast',
      workspace: folder,
    });
    await using _bare = await startWorkerProcess({
      kind: 'bare',
      address,
      baseURL,
      taskQueue: 'history-bare',
      bundlePath,
    });

    const prompt = turnPrompt({ turns: calls, bytes: resultBytes });
    const run = await client.start(
      { prompt: JSON.stringify(prompt), limits: { maxTurns: calls + 1 } },
      { workflowId: prompt.id },
    );
    await run.result();
    let unique = 0;
    for await (const message of run.messages()) unique += jsonSize(message);
    const total = (await workflow.getHandle(prompt.id).describe()).historySize ?? Number.NaN;
    log('Holdfast: done');

    const barePrompt = turnPrompt({ turns: calls, bytes: resultBytes });
    const outcome = await workflow
      .execute('bareLoop', {
        taskQueue: 'history-bare',
        workflowId: barePrompt.id,
        args: [JSON.stringify(barePrompt)],
      })
      .then(
        () => 'completed',
        (error: unknown) => (error as Error & { cause?: Error }).cause?.message ?? String(error),
      );
    const bareTotal =
      (await workflow.getHandle(barePrompt.id).describe()).historySize ?? Number.NaN;
    const bareSizes = sizes.get(barePrompt.id) ?? [];
    await model.close({ expectFaults: true });

    const own = sizes.get(prompt.id) ?? [];
    const rows: Row[] = [
      { what: 'Holdfast: unique content', unit: 'bytes', samples: [unique] },
      { what: 'Holdfast: history', unit: 'bytes', samples: [total] },
      {
        what: 'Holdfast: history by unique content',
        unit: '×',
        samples: [total / unique],
        bar: { of: 'median', atMost: 2 },
      },
      { what: 'Holdfast: per call at 10', unit: 'bytes', samples: perCall(own, 10) },
      { what: 'Holdfast: per call at 300', unit: 'bytes', samples: perCall(own, 300) },
      {
        what: 'Holdfast: per call, at 300 by at 10',
        unit: '×',
        samples: [median(perCall(own, 300)) / median(perCall(own, 10))],
        bar: { of: 'median', atMost: 1.1 },
      },
      { what: 'bare loop: history', unit: 'bytes', samples: [bareTotal] },
      { what: 'bare loop: per call at 10', unit: 'bytes', samples: perCall(bareSizes, 10) },
      {
        what: 'bare loop: last call it came to',
        unit: 'count',
        samples: [bareSizes.length],
        note: outcome,
      },
    ];
    return {
      measure: 'history',
      conditions:
        `${calls} model calls, tool results of ${resultBytes} bytes; unique content is the JSON of the transcript's messages; ` +
        'bytes per call are those between two model requests, ten around the named one',
      rows,
    };
  },
};

/** What the ten calls up to five after `call` added. */
function perCall(sizes: readonly number[], call: number): readonly number[] {
  const end = Math.min(sizes.length - 1, call + 5);
  return Array.from(
    { length: 10 },
    (_, back) => (sizes[end - back] ?? 0) - (sizes[end - back - 1] ?? 0),
  );
}
