// `npm run twin`: the topology of docker-compose.yml without containers, and the demo's run on it while
// workers, the Temporal server and PostgreSQL are killed in turn. Leaves with 0 when everything it checks
// holds, 1 when not, 130 when it was interrupted.

import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Belongings } from '../../src/demo/belongings.js';
import { Screen } from '../../src/demo/screen.js';
import { startStack } from './stack.js';
import { heldTurns, tellStory } from './story.js';
import type { StoryOutcome } from './story.js';
import { names, seconds } from './strikes.js';

const usage = `Usage: npm run twin [-- --away <seconds>]

Starts PostgreSQL, the Temporal server and two workers as docker-compose.yml does, without containers; plays the
demo's run while each of them is killed with SIGKILL in turn; checks what survived.

  --away <seconds>   how long server and database stay away (default 0: they are started again at once)

It needs PostgreSQL (Debian: postgresql) and the Temporal server of docker-compose.yml's version: as
\`temporal-server\` and \`temporal-sql-tool\` on PATH, named by TEMPORAL_SERVER_PATH and
TEMPORAL_SQL_TOOL_PATH, or Go, by which they are built once.
`;

const storyMinutes = 10;

const { awayMs, help, wrong } = readFlags(process.argv.slice(2));
if (help || wrong) {
  process.stdout.write(usage);
  process.exit(help ? 0 : 1);
}

const belongings = new Belongings();
let logs: string | undefined;
const interrupted = new Promise<number>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => resolve(130));
  }
});

// Nothing may keep what was started from being stopped.
const broken = new Promise<never>((_, reject) => process.on('uncaughtException', reject));
broken.catch(() => undefined);

async function play(): Promise<number> {
  const began = Date.now();
  const screen = new Screen();
  const stack = await startStack(heldTurns, belongings, (line) => screen.step(line));
  ({ logs } = stack);
  const ready = Date.now();
  try {
    const late = sleep(storyMinutes * 60_000, undefined, { ref: false }).then(() => {
      throw new Error(`The run did not come to its end within ${storyMinutes} minutes.`);
    });
    const story = tellStory(stack, { screen, belongings, awayMs });
    const outcome = await Promise.race([story, late]);
    const { checks } = outcome;
    screen.table(checks);
    strikeTable(screen, outcome);
    const setUp = seconds(ready - began);
    screen.line(`Set-up ${setUp}, run ${seconds(Date.now() - ready)}.`);
    if (checks.some(({ verdict }) => verdict !== 'holds')) {
      throw new Error('Not everything holds.');
    }
  } catch (error) {
    screen.line(`The messages of the server and of PostgreSQL are in ${stack.logs}.`);
    throw error;
  }
  return 0;
}

function strikeTable(screen: Screen, { strikes, unknownTurns }: StoryOutcome): void {
  screen.line('What was killed                                there again  run goes on');
  for (const { target, activity, turn, backMs, onMs } of strikes) {
    const what = `${target}, in ${names[activity]} of turn ${turn}`.padEnd(46);
    const times = [backMs, onMs].map((time) => seconds(time).padStart(11)).join('  ');
    const isKept = activity === 'callTool' && target !== 'a worker';
    const told = unknownTurns.includes(turn) ? 'told as unknown' : 'its result was kept';
    screen.line(`  ${what}${times}${isKept ? `  ${told}` : ''}`);
  }
  screen.line();
}

function readFlags(args: readonly string[]) {
  const { values } = tryTo(() =>
    parseArgs({
      args: [...args],
      options: {
        away: { type: 'string', default: '0' },
        help: { type: 'boolean', default: false },
      },
    }),
  ) ?? { values: undefined };
  const seconds = Number(values?.away ?? Number.NaN);
  return { awayMs: seconds * 1_000, help: values?.help ?? false, wrong: !(seconds >= 0) };
}

function tryTo<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

let exitCode: number;
try {
  const played = play();
  // After an interruption what was going on fails; that is nobody's news.
  played.catch(() => undefined);
  exitCode = await Promise.race([played, broken, interrupted]);
} catch (error) {
  process.stderr.write(`twin: ${error instanceof Error ? error.message : String(error)}\n`);
  exitCode = 1;
}
await belongings.release();
// What ended has written its last words by now; they are kept where something failed.
if (logs !== undefined && exitCode !== 1) await rm(logs, { recursive: true, force: true });
process.exit(exitCode);
