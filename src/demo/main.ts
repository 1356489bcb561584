// `npm run demo`: plays the demo, stops everything it has started, and leaves with 0 when all that it
// claims to have checked holds, 1 when not, 130 when it was interrupted. `--keep` leaves everything open.

import { Belongings } from './belongings.js';
import { runDemo } from './run-demo.js';
import { Screen } from './screen.js';

const usage = `Usage: npm run demo [-- --keep]

Plays an agent that survives the death of its workers, with a scripted model, or with the real one where
OPENAI_API_KEY or OPENAI_BASE_URL is set (HOLDFAST_MODEL chooses the model).

  --keep   leave server, worker and Web UI open until Ctrl-C
`;

const flags = process.argv.slice(2);
if (flags.includes('--help') || flags.some((flag) => flag !== '--keep')) {
  process.stdout.write(usage);
  process.exit(flags.includes('--help') ? 0 : 1);
}

const belongings = new Belongings();
let exitCodeWhenStopped = 130;

const interrupted = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => resolve());
  // A reader that has seen enough (`| head`), or a parent that was killed: nobody watches any more.
  process.stdout.on('error', () => resolve());
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || resolve(), 500).unref();
});

async function play(): Promise<number> {
  const screen = new Screen();
  const { holds, address, uiAddress } = await runDemo(screen, belongings);
  const exitCode = holds ? 0 : 1;
  if (!holds) screen.line('Not everything holds.');
  if (!flags.includes('--keep')) {
    screen.line(`Web UI: ${uiAddress} (\`npm run demo -- --keep\` leaves it open)`);
    return exitCode;
  }
  screen.line(`Web UI: ${uiAddress}`);
  screen.line(`Server, worker and Web UI stay open until Ctrl-C. The address is ${address}.`);
  exitCodeWhenStopped = exitCode;
  return new Promise<number>(() => {});
}

// Nothing may keep what was started from being stopped.
const broken = new Promise<never>((_, reject) => process.on('uncaughtException', reject));
broken.catch(() => undefined);

let exitCode: number;
try {
  const played = play();
  // After an interruption what was going on fails; that is nobody's news.
  played.catch(() => undefined);
  exitCode = await Promise.race([played, broken, interrupted.then(() => exitCodeWhenStopped)]);
} catch (error) {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
  exitCode = 1;
}
await belongings.release();
process.exit(exitCode);
