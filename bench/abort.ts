// Abort: from the signal or the cancel until the model's HTTP connection is closed, or until the last
// process of a running command is dead. The moment is random, so that it falls anywhere between heartbeats.
// Beside it the bare loop, whose activities send no heartbeats and so are never told.

import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentClient } from '../src/client/index.js';
import type { AgentRun } from '../src/client/index.js';
import { chunk, reply, startScriptedModel, step } from '../src/testing/scripted-model.js';
import { bundleBareLoop } from './bare-bundle.js';
import { startWorkerProcess } from './processes.js';
import { createRandom } from './random.js';
import type { Measure, Row } from './report.js';

type Stop = 'signal' | 'cancel';

/** Calls of the bare loop that are cancelled at once, and how long they are watched. */
const bareCalls = 5;
const bareWatchMs = 10_000;

/** Two levels of processes, each found by the number it sleeps for. */
const commands = {
  plain: (seconds: string) => `sleep ${seconds} & bash -c 'sleep ${seconds} & wait' & wait`,
  stubborn: (seconds: string) => `trap '' TERM; sleep ${seconds} & sleep ${seconds}; wait`,
} as const;

export const abort: Measure = {
  name: 'abort',
  what: 'abort → HTTP connection closed, process tree dead',
  async run({ address, folder, samples = 20, seed, log }) {
    const random = createRandom(seed);
    const model = await startScriptedModel(({ messages }) => {
      const command = JSON.stringify(messages).match(/command:([^"]*)/)?.[1];
      if (command === undefined) return reply.raw([chunk.text('I think '), step.hang]);
      const decoded = Buffer.from(command, 'base64').toString();
      return reply.toolCalls([{ name: 'bash', arguments: { command: decoded } }]);
    });
    const taskQueue = 'abort';
    await using _worker = await startWorkerProcess({
      kind: 'holdfast',
      address,
      taskQueue,
      baseURL: model.baseURL,
      workspace: folder,
    });
    await using client = await AgentClient.connect({ address, taskQueue });

    const stop = async (run: AgentRun, how: Stop): Promise<number> => {
      await sleep(random() * 700);
      const at = performance.now();
      await (how === 'signal' ? run.abort() : run.cancel());
      return at;
    };
    const modelCall = async (how: Stop): Promise<number> => {
      const next = model.request(model.requests.length);
      const run = await client.start('Think.');
      const request = await next;
      const at = await stop(run, how);
      if ((await request.ended) !== 'left') throw new Error('The request was answered.');
      await run.result().catch(() => undefined);
      return (request.leftAt ?? Number.NaN) - at;
    };
    let marker = 100_000 + Math.floor(random() * 100_000);
    const tool = async (how: Stop, kind: keyof typeof commands): Promise<number> => {
      marker += 1;
      const seconds = `${marker}.25`;
      const command = Buffer.from(commands[kind](seconds)).toString('base64');
      const run = await client.start(`command:${command}`);
      while ((await processesOf(seconds)) < 2) await sleep(5);
      const at = await stop(run, how);
      while ((await processesOf(seconds)) > 0) await sleep(5);
      const milliseconds = performance.now() - at;
      await run.result().catch(() => undefined);
      return milliseconds;
    };

    const rows: Row[] = [];
    const add = async (what: string, attempt: () => Promise<number>) => {
      const times: number[] = [];
      for (let i = 0; i < samples; i++) times.push(await attempt());
      rows.push({ what, unit: 'ms', samples: times, bar: { of: 'p95', atMost: 1_000 } });
      log(`${what}: done`);
    };
    await add('signal → connection closed', () => modelCall('signal'));
    await add('cancel → connection closed', () => modelCall('cancel'));
    await add('signal → process tree dead', () => tool('signal', 'plain'));
    await add('cancel → process tree dead', () => tool('cancel', 'plain'));
    await add('signal → tree that ignores SIGTERM dead', () => tool('signal', 'stubborn'));

    await using _bare = await startWorkerProcess({
      kind: 'bare',
      address,
      taskQueue: 'abort-bare',
      baseURL: model.baseURL,
      bundlePath: await bundleBareLoop(folder),
    });
    const first = model.requests.length;
    const handles = await Promise.all(
      Array.from({ length: bareCalls }, (_, i) =>
        client.temporal.workflow.start('bareLoop', {
          taskQueue: 'abort-bare',
          workflowId: `abort-bare-${i}`,
          args: ['Think.'],
        }),
      ),
    );
    await model.request(first + bareCalls - 1);
    await Promise.all(handles.map((handle) => handle.cancel()));
    await sleep(bareWatchMs);
    const open = model.requests.slice(first).filter(({ leftAt }) => leftAt === undefined);
    rows.push({
      what: `bare loop: connections still open ${bareWatchMs / 1000} s after the cancel`,
      unit: 'count',
      samples: [open.length],
      note: `of ${bareCalls}`,
    });
    await model.close({ expectFaults: true });
    return {
      measure: 'abort',
      conditions:
        'each after a random time below 0.7 s in the call; from before the client sends it; the dead are looked for in /proc every 5 ms',
      rows,
    };
  },
};

/** Living processes with this text as an argument of their own, not inside a command line. */
async function processesOf(argument: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return line.split('\0').includes(argument);
    }),
  );
  return found.filter(Boolean).length;
}
