#!/usr/bin/env node
// The entry of the command `holdfast`.

import { createProgram } from './program.js';
import { createTerminal } from './terminal.js';
import { toErrorSentence } from './error-sentence.js';

const terminal = createTerminal();
try {
  await createProgram(terminal).parseAsync();
} catch (error) {
  terminal.note(terminal.noteColours.red(`holdfast: ${toErrorSentence(error)}`));
  process.exitCode = 1;
}
