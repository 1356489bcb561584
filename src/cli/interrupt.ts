// Ctrl-C while a run is followed: the first stops the run and waits for its end, the second leaves at once.

import type { AgentResult, AgentRun } from '../client/index.js';
import { toErrorSentence } from './error-sentence.js';
import { exitCodes } from './follow-run.js';
import type { Terminal } from './terminal.js';

/** Until disposed of. A `run` is cancelled; a `session` gets the signal and stays open. */
export function abortOnInterrupt(
  run: AgentRun<AgentResult>,
  lifetime: 'run' | 'session',
  terminal: Terminal,
): Disposable {
  let isAborting = false;
  const onInterrupt = (): void => {
    if (isAborting) process.exit(exitCodes.aborted);
    isAborting = true;
    terminal.note('\nAborting; waiting for the run to end. Ctrl-C again leaves without waiting.');
    const aborted = lifetime === 'run' ? run.cancel() : run.abort('interrupted by Ctrl-C');
    aborted.catch((error: unknown) => {
      terminal.note(`holdfast: ${toErrorSentence(error)}`);
    });
  };
  process.on('SIGINT', onInterrupt);
  return { [Symbol.dispose]: () => void process.off('SIGINT', onInterrupt) };
}
