// A worker of Holdfast and one of the bare loop, on the same server and asking the same model, and a way to run
// a session of either. What both do is driven by the prompt; see `turn-script.ts`.

import { AgentClient } from '../src/client/index.js';
import { bundleBareLoop } from './bare-bundle.js';
import { startWorkerProcess } from './processes.js';
import type { WorkerProcess } from './processes.js';
import type { Row, Unit } from './report.js';
import type { TurnPrompt } from './turn-script.js';

export const sides = ['holdfast', 'bare'] as const;
export type Side = (typeof sides)[number];
export type EachSide<T> = { readonly [S in Side]: T };

export const sideNames: EachSide<string> = { holdfast: 'Holdfast', bare: 'bare loop' };

/** One after the other, so that neither disturbs the other. */
export async function eachSide<T>(action: (side: Side) => Promise<T>): Promise<EachSide<T>> {
  return { holdfast: await action('holdfast'), bare: await action('bare') };
}

export interface SideBySide extends AsyncDisposable {
  readonly workers: EachSide<WorkerProcess>;
  readonly client: AgentClient;
  /** Starts a session and waits for its result. */
  runSession(side: Side, prompt: TurnPrompt): Promise<void>;
}

export async function startSideBySide({
  address,
  baseURL,
  folder,
  name,
}: {
  readonly address: string;
  /** Of the model. */
  readonly baseURL: string;
  readonly folder: string;
  /** Of the measure. */
  readonly name: string;
}): Promise<SideBySide> {
  const queues = { holdfast: `${name}-holdfast`, bare: `${name}-bare` } as const;
  const bundlePath = await bundleBareLoop(folder);
  const common = { address, baseURL };
  const workers = {
    holdfast: await startWorkerProcess({
      ...common,
      kind: 'holdfast',
      taskQueue: queues.holdfast,
      workspace: folder,
    }),
    bare: await startWorkerProcess({ ...common, kind: 'bare', taskQueue: queues.bare, bundlePath }),
  };
  const client = await AgentClient.connect({ address, taskQueue: queues.holdfast });
  return {
    workers,
    client,
    async runSession(side, prompt) {
      const text = JSON.stringify(prompt);
      if (side === 'holdfast') {
        const input = { prompt: text, limits: { maxTurns: prompt.turns + 1 } };
        const run = await client.start(input, { workflowId: prompt.id });
        await run.result();
        return;
      }
      await client.temporal.workflow.execute('bareLoop', {
        taskQueue: queues.bare,
        workflowId: prompt.id,
        args: [text],
      });
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      for (const side of sides) await workers[side][Symbol.asyncDispose]();
    },
  };
}

/** A row for each side, of what was measured in pairs. */
export function sideRows<T>(
  what: string,
  unit: Unit,
  pairs: readonly EachSide<T>[],
  figure: (measured: T) => number,
): readonly Row[] {
  return sides.map((side) => ({
    what: `${what}, ${sideNames[side]}`,
    unit,
    samples: pairs.map((pair) => figure(pair[side])),
  }));
}

/** Holdfast by the bare loop, pair by pair. */
export function ratioRow<T>(
  what: string,
  pairs: readonly EachSide<T>[],
  figure: (measured: T) => number,
): Row {
  return {
    what: `${what}, ratio per pair`,
    unit: '×',
    samples: pairs.map(({ holdfast, bare }) => figure(holdfast) / figure(bare)),
  };
}
