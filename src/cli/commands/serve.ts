// `holdfast worker` and `holdfast dev`. What they need is loaded when they are called: the other commands
// stay quick.

import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { defaultTaskQueue } from '../../protocol/session.js';
import { addServerOptions, examples } from '../options.js';
import type { ServerFlags } from '../options.js';
import type { Terminal } from '../terminal.js';

export interface ServeFlags extends ServerFlags {
  readonly config?: string;
  /** Default: the config's. */
  readonly taskQueue?: string;
  readonly logLevel: 'ERROR' | 'WARN' | 'INFO' | 'DEBUG';
}

export interface WorkerFlags extends ServeFlags {
  readonly healthFile?: string;
}

export interface DevFlags extends ServeFlags {
  readonly port?: number;
  readonly uiPort?: number;
  readonly dataDir?: string;
}

export function addServeCommands(program: Command, terminal: Terminal): void {
  const dev = program
    .command('dev')
    .description('Start a local Temporal server with Web UI and a worker, until Ctrl-C')
    .option('--port <n>', 'port of the server (default: 7233, or one that is free)', toPort)
    .option('--ui-port <n>', 'port of the Web UI (default: 8233, or one that is free)', toPort)
    .option(
      '--data-dir <path>',
      "where the server keeps its data (default: the user's data folder)",
    );
  // What fails is in the session and in the Web UI; here it would bury what `dev` says.
  addServeOptions(dev, 'ERROR')
    .addHelpText(
      'after',
      `\nWith --address, TEMPORAL_ADDRESS or temporal.toml it uses that server and starts none.\n${examples(
        'holdfast dev',
        'OPENAI_API_KEY=… holdfast dev --config agents/holdfast.config.ts',
      )}`,
    )
    .action(async (flags: DevFlags) => {
      const { serveDev } = await import('../dev.js');
      await serveDev(flags, terminal);
    });

  addServeOptions(
    program.command('worker').description('Run a worker on the configured Temporal server'),
    'WARN',
  )
    .option('--health-file <path>', 'file to touch every 5 s while it runs, for health checks')
    .addHelpText(
      'after',
      examples(
        'holdfast worker',
        'holdfast worker --config agents/holdfast.config.ts --task-queue agents',
        'TEMPORAL_ADDRESS=temporal.internal:7233 holdfast worker',
      ),
    )
    .action(async (flags: WorkerFlags) => {
      const { serveWorker } = await import('../worker.js');
      await serveWorker(flags, terminal);
    });
}

function addServeOptions(command: Command, logLevel: ServeFlags['logLevel']): Command {
  command
    .option('--config <file>', 'config file (default: holdfast.config.{ts,js,json} here)')
    .option(
      '--task-queue <name>',
      `task queue to serve (default: the config's, "${defaultTaskQueue}")`,
    )
    .addOption(
      new Option('--log-level <level>', 'what is logged to standard error')
        .choices(['ERROR', 'WARN', 'INFO', 'DEBUG'])
        .default(logLevel),
    );
  return addServerOptions(command);
}

function toPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new InvalidArgumentError('Expected a port from 1 to 65535.');
  }
  return port;
}
