// Engine time: what a turn (one model call, one tool) costs when model and tool take no time, beside a
// bare Temporal loop doing the same. Sessions of the two alternate, so that both see the same machine.

import { startScriptedModel } from '../src/testing/scripted-model.js';
import { processorMs } from './processes.js';
import type { Measure, Row } from './report.js';
import { eachSide, ratioRow, sideNames, sideRows, sides, startSideBySide } from './side-by-side.js';
import type { EachSide, Side } from './side-by-side.js';
import { median, steps } from './statistics.js';
import { arrivalsOf, turnPrompt, turnReply } from './turn-script.js';

/** Sessions of each kind, by turns per session. */
const plan = [
  { turns: 20, sessions: 20 },
  { turns: 100, sessions: 6 },
  { turns: 300, sessions: 3 },
] as const;

const resultBytes = 100;

interface SessionTime {
  /** The median time from one model request to the next. */
  readonly turnMs: number;
  readonly sessionMs: number;
  /** Processor time of the worker per turn. */
  readonly workerMs: number;
}

export const engineTime: Measure = {
  name: 'engine-time',
  what: 'a turn without provider delay, beside a bare loop',
  async run({ address, folder, samples, log }) {
    const model = await startScriptedModel((body) => turnReply(body));
    const { baseURL } = model;
    await using both = await startSideBySide({ address, baseURL, folder, name: 'engine' });

    const timed = async (side: Side, turns: number): Promise<SessionTime> => {
      const { pid } = both.workers[side];
      const prompt = turnPrompt({ turns, bytes: resultBytes });
      const workerBefore = await processorMs(pid);
      const startedAt = performance.now();
      await both.runSession(side, prompt);
      const sessionMs = performance.now() - startedAt;
      return {
        sessionMs,
        turnMs: median(steps(arrivalsOf(model, prompt))),
        workerMs: ((await processorMs(pid)) - workerBefore) / turns,
      };
    };

    // The first sessions of a process pay for its warming up.
    for (let i = 0; i < 2; i++) await eachSide((side) => timed(side, 20));
    const rows: Row[] = [];
    for (const { turns, sessions } of plan) {
      const pairs: EachSide<SessionTime>[] = [];
      for (let i = 0; i < Math.min(sessions, samples ?? sessions); i++) {
        const pair = await eachSide((side) => timed(side, turns));
        pairs.push(pair);
        const texts = sides.map((side) => `${sideNames[side]} ${timeText(pair[side])}`);
        log(`${turns} turns, ${i + 1}: ${texts.join('; ')}`);
      }
      rows.push(...rowsOf(turns, pairs));
    }
    await model.close();
    return {
      measure: 'engine-time',
      conditions:
        `sessions of Holdfast and the bare loop alternate; results of ${resultBytes} bytes; a turn is the median time ` +
        'between two model requests of a session; model, each worker and the server are processes of their own',
      rows,
    };
  },
};

function timeText({ turnMs, sessionMs }: SessionTime): string {
  return `${turnMs.toFixed(1)} ms a turn, ${Math.round(sessionMs)} ms in all`;
}

function rowsOf(turns: number, pairs: readonly EachSide<SessionTime>[]): readonly Row[] {
  const turn = `turn of ${turns} turns`;
  const session = `session of ${turns} turns, start to result`;
  const processorTime = `processor time of the worker per turn, ${turns} turns`;
  return [
    ...sideRows(turn, 'ms', pairs, ({ turnMs }) => turnMs),
    { ...ratioRow(turn, pairs, ({ turnMs }) => turnMs), bar: { of: 'median', atMost: 1.15 } },
    ratioRow(session, pairs, ({ sessionMs }) => sessionMs),
    ...sideRows(processorTime, 'ms', pairs, ({ workerMs }) => workerMs),
  ];
}
