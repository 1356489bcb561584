// The command line's commands. They parse and print; what they do is in client, worker and dev-server.

import { createRequire } from 'node:module';
import { Command } from 'commander';
import { addControlCommands } from './commands/control.js';
import { addRunCommand } from './commands/run.js';
import { addServeCommands } from './commands/serve.js';
import { addWatchCommands } from './commands/watch.js';
import { examples } from './options.js';
import type { Terminal } from './terminal.js';

export function createProgram(terminal: Terminal): Command {
  const program = new Command('holdfast')
    .description('A durable LLM agent on Temporal')
    .version(packageVersion(), '--version', 'print the version')
    .helpCommand(false)
    .showHelpAfterError('(`--help` shows what is possible)')
    .addHelpText(
      'after',
      examples(
        'holdfast dev',
        'holdfast run "List the files here"',
        'holdfast steer calm-otter-7k2m "Only the markdown files"',
        'holdfast events calm-otter-7k2m --follow',
      ),
    );
  addServeCommands(program, terminal);
  addRunCommand(program, terminal);
  addControlCommands(program, terminal);
  addWatchCommands(program, terminal);
  return program;
}

function packageVersion(): string {
  const manifest = createRequire(import.meta.url)('../../package.json') as { version: string };
  return manifest.version;
}
