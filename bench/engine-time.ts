// Engine time: what a turn (one model call, one tool) costs when model and tool take no time, beside a
// bare Temporal loop doing the same. Sessions of the two alternate, so that both see the same machine.

import { AgentClient } from '../src/client/index.js';
import { startScriptedModel } from '../src/testing/scripted-model.js';
import { bundleBareLoop } from './bare-bundle.js';
import { startWorkerProcess } from './processes.js';
import type { Measure, Row } from './report.js';
import { median, steps } from './statistics.js';
import { arrivalsOf, turnPrompt, turnReply } from './turn-script.js';
import type { TurnPrompt } from './turn-script.js';

/** Sessions of each kind, by turns per session. */
const plan = [
  { turns: 20, sessions: 20 },
  { turns: 100, sessions: 6 },
  { turns: 300, sessions: 3 },
] as const;

const resultBytes = 100;

interface Pair {
  readonly holdfast: SessionTime;
  readonly bare: SessionTime;
}

interface SessionTime {
  readonly turnMs: number;
  readonly sessionMs: number;
}

export const engineTime: Measure = {
  name: 'engine-time',
  what: 'a turn without provider delay, beside a bare loop',
  async run({ address, folder, samples, log }) {
    const model = await startScriptedModel((body) => turnReply(body));
    const { baseURL } = model;
    const bundlePath = await bundleBareLoop(folder);
    await using _holdfast = await startWorkerProcess({
      kind: 'holdfast',
      address,
      baseURL,
      taskQueue: 'engine-holdfast',
      workspace: folder,
    });
    await using _bare = await startWorkerProcess({
      kind: 'bare',
      address,
      baseURL,
      taskQueue: 'engine-bare',
      bundlePath,
    });
    await using client = await AgentClient.connect({ address, taskQueue: 'engine-holdfast' });

    const runHoldfast = async (prompt: TurnPrompt) => {
      const limits = { maxTurns: prompt.turns + 1 };
      const run = await client.start({ prompt: JSON.stringify(prompt), limits });
      await run.result();
    };
    const runBare = async (prompt: TurnPrompt) => {
      const args = [JSON.stringify(prompt)];
      const options = { taskQueue: 'engine-bare', workflowId: prompt.id, args };
      await client.temporal.workflow.execute('bareLoop', options);
    };
    const timed = async (
      turns: number,
      run: (prompt: TurnPrompt) => Promise<void>,
    ): Promise<SessionTime> => {
      const prompt = turnPrompt({ turns, bytes: resultBytes });
      const startedAt = performance.now();
      await run(prompt);
      const sessionMs = performance.now() - startedAt;
      return { sessionMs, turnMs: median(steps(arrivalsOf(model, prompt))) };
    };

    // The first sessions of a process pay for its warming up.
    for (let i = 0; i < 2; i++) {
      await timed(20, runHoldfast);
      await timed(20, runBare);
    }
    const rows: Row[] = [];
    for (const { turns, sessions } of plan) {
      const pairs: Pair[] = [];
      for (let i = 0; i < Math.min(sessions, samples ?? sessions); i++) {
        const pair = {
          holdfast: await timed(turns, runHoldfast),
          bare: await timed(turns, runBare),
        };
        pairs.push(pair);
        log(`${turns} turns, ${i + 1}: ${pairText(pair)}`);
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

function pairText({ holdfast, bare }: Pair): string {
  const text = ({ turnMs, sessionMs }: SessionTime) =>
    `${turnMs.toFixed(1)} ms a turn, ${Math.round(sessionMs)} ms in all`;
  return `Holdfast ${text(holdfast)}; bare ${text(bare)}`;
}

function rowsOf(turns: number, pairs: readonly Pair[]): readonly Row[] {
  const of = `of ${turns} turns`;
  return [
    {
      what: `turn ${of}, Holdfast`,
      unit: 'ms',
      samples: pairs.map(({ holdfast }) => holdfast.turnMs),
    },
    { what: `turn ${of}, bare loop`, unit: 'ms', samples: pairs.map(({ bare }) => bare.turnMs) },
    {
      what: `turn ${of}, ratio per pair`,
      unit: '×',
      samples: pairs.map(({ holdfast, bare }) => holdfast.turnMs / bare.turnMs),
      bar: { of: 'median', atMost: 1.25 },
    },
    {
      what: `session ${of}, start to result, ratio per pair`,
      unit: '×',
      samples: pairs.map(({ holdfast, bare }) => holdfast.sessionMs / bare.sessionMs),
    },
  ];
}
