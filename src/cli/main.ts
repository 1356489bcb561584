#!/usr/bin/env node
// The entry of the command `holdfast`.

import * as nodeModule from 'node:module';

// From Node 22 on, compiled code is kept between starts. What is imported before this line is not.
(nodeModule as { readonly enableCompileCache?: () => unknown }).enableCompileCache?.();

const { createProgram } = await import('./program.js');
const { createTerminal } = await import('./terminal.js');
const { toErrorSentence } = await import('./error-sentence.js');

const terminal = createTerminal();
// Node ends without a word when nothing is left that could settle what is awaited.
process.once('exit', (code) => {
  if (code !== 13) return;
  terminal.note(
    terminal.noteColours.red(
      'holdfast: the command waits for a promise that nothing can settle; look at what the config awaits.',
    ),
  );
});
try {
  await createProgram(terminal).parseAsync();
} catch (error) {
  terminal.note(terminal.noteColours.red(`holdfast: ${toErrorSentence(error)}`));
  process.exitCode = 1;
  // A worker of the SDK that could not be created leaves threads behind, which would keep the process.
  setTimeout(() => process.exit(), 1_000).unref();
}
