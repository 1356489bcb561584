// Throughput: model calls per second with a hundred sessions at once on one worker, beside a bare Temporal loop
// doing the same. Rounds of the two alternate. On a machine whose processors are all busy it is processor time
// that decides, so that is told as well.

import { processorMs, residentMegabytes, startModelProcess } from './processes.js';
import type { Measure, Row } from './report.js';
import { eachSide, ratioRow, sideNames, sideRows, sides, startSideBySide } from './side-by-side.js';
import type { EachSide, Side } from './side-by-side.js';
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

export const throughput: Measure = {
  name: 'throughput',
  what: `model calls per second with ${sessions} sessions at once, beside a bare loop`,
  async run({ address, server, folder, samples = 4, log }) {
    await using model = await startModelProcess();
    const { baseURL } = model;
    await using both = await startSideBySide({ address, baseURL, folder, name: 'throughput' });

    const runRound = async (side: Side): Promise<Round> => {
      const { pid } = both.workers[side];
      const used = async () => [await processorMs(pid), await processorMs(server.pid)] as const;
      const [workerBefore, serverBefore] = await used();
      const startedAt = performance.now();
      await Promise.all(
        Array.from({ length: sessions }, () =>
          both.runSession(side, turnPrompt({ turns, bytes: resultBytes })),
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
    await eachSide(runRound);
    const pairs: EachSide<Round>[] = [];
    for (let i = 0; i < samples; i++) {
      const pair = await eachSide(runRound);
      pairs.push(pair);
      const texts = sides.map((side) => `${sideNames[side]} ${roundText(pair[side])}`);
      log(`${i + 1}: ${texts.join('; ')}`);
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

function rowsOf(pairs: readonly EachSide<Round>[]): readonly Row[] {
  const calls = ({ callsPerSecond }: Round) => callsPerSecond;
  const worker = ({ workerMs }: Round) => workerMs;
  const server = ({ serverMs }: Round) => serverMs;
  return [
    ...sideRows('model calls', 'calls/s', pairs, calls),
    { ...ratioRow('model calls', pairs, calls), bar: { of: 'median', atLeast: 0.9 } },
    ...sideRows('processor time of the worker', 'ms', pairs, worker),
    ratioRow('processor time of the worker', pairs, worker),
    ...sideRows('processor time of the server', 'ms', pairs, server),
    ratioRow('processor time of the server', pairs, server),
    ...sideRows('memory of the worker after a round', 'MB', pairs, ({ megabytes }) => megabytes),
  ];
}
