// Throughput: model calls per second with a hundred sessions at once on one worker, beside a bare Temporal loop
// doing the same. Rounds of the two alternate. On a machine whose processors are all busy it is processor time
// that decides, so that is told as well.

import { processorMs, residentMegabytes, startModelProcess } from './processes.js';
import type { Measure, Row } from './report.js';
import { sides, startSideBySide } from './side-by-side.js';
import type { Side } from './side-by-side.js';
import { turnPrompt } from './turn-script.js';

const sessions = 100;
const turns = 10;
const resultBytes = 100;
const callsOfRound = sessions * (turns + 1);

interface Round {
  readonly callsPerSecond: number;
  /** Processor time per model call, with the tool call and the workflow tasks that belong to it. */
  readonly workerMs: number;
  readonly serverMs: number;
  /** Memory of the worker at the end of the round. */
  readonly megabytes: number;
}

type Pair = { readonly [S in Side]: Round };

const names = { holdfast: 'Holdfast', bare: 'bare loop' } as const;

export const throughput: Measure = {
  name: 'throughput',
  what: `model calls per second with ${sessions} sessions at once, beside a bare loop`,
  async run({ address, server, folder, samples = 5, log }) {
    await using model = await startModelProcess();
    const { baseURL } = model;
    await using pair = await startSideBySide({ address, baseURL, folder, name: 'throughput' });

    const runRound = async (side: Side): Promise<Round> => {
      const { pid } = pair.workers[side];
      const used = async () => [await processorMs(pid), await processorMs(server.pid)] as const;
      const [workerBefore, serverBefore] = await used();
      const startedAt = performance.now();
      await Promise.all(
        Array.from({ length: sessions }, () =>
          pair.runSession(side, turnPrompt({ turns, bytes: resultBytes })),
        ),
      );
      const seconds = (performance.now() - startedAt) / 1000;
      const [workerAfter, serverAfter] = await used();
      return {
        callsPerSecond: callsOfRound / seconds,
        workerMs: (workerAfter - workerBefore) / callsOfRound,
        serverMs: (serverAfter - serverBefore) / callsOfRound,
        megabytes: await residentMegabytes(pid),
      };
    };

    // The first sessions of a process pay for its warming up.
    for (const side of sides) await runRound(side);
    const pairs: Pair[] = [];
    for (let i = 0; i < samples; i++) {
      const done = { holdfast: await runRound('holdfast'), bare: await runRound('bare') };
      pairs.push(done);
      log(`${i + 1}: ${sides.map((side) => `${names[side]} ${roundText(done[side])}`).join('; ')}`);
    }
    return {
      measure: 'throughput',
      conditions:
        `rounds of ${sessions} sessions at once, ${turns} turns each with one tool call, results of ${resultBytes} bytes, ` +
        'from the start of the first session to the result of the last; rounds of Holdfast and the bare loop alternate; ' +
        "one worker with the SDK's default slots; processor time is per model call, with everything that belongs to it; " +
        'model, workers, server and client are processes of their own and share the machine',
      rows: rowsOf(pairs),
    };
  },
};

function roundText({ callsPerSecond, workerMs, serverMs }: Round): string {
  return `${callsPerSecond.toFixed(1)} calls/s (worker ${workerMs.toFixed(1)} ms, server ${serverMs.toFixed(1)} ms)`;
}

function rowsOf(pairs: readonly Pair[]): readonly Row[] {
  const each = (what: string, unit: Row['unit'], figure: keyof Round): Row[] =>
    sides.map((side) => ({
      what: `${what}, ${names[side]}`,
      unit,
      samples: pairs.map((pair) => pair[side][figure]),
    }));
  const ratio = (what: string, figure: keyof Round): Row => ({
    what: `${what}, ratio per pair`,
    unit: '×',
    samples: pairs.map(({ holdfast, bare }) => holdfast[figure] / bare[figure]),
  });
  return [
    ...each('model calls', 'calls/s', 'callsPerSecond'),
    { ...ratio('model calls', 'callsPerSecond'), bar: { of: 'median', atLeast: 0.9 } },
    ...each('processor time of the worker', 'ms', 'workerMs'),
    ratio('processor time of the worker', 'workerMs'),
    ...each('processor time of the server', 'ms', 'serverMs'),
    ratio('processor time of the server', 'serverMs'),
    ...each('memory of the worker after a round', 'MB', 'megabytes'),
  ];
}
