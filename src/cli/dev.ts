// What `holdfast dev` does: a local Temporal server, kept alive, and a worker, in one command.

import { delimiter, dirname } from 'node:path';
import { loadConfig } from '../config/index.js';
import { configuredAddress, startDevServer } from '../dev-server/index.js';
import type { DevServer, StartDevServerOptions } from '../dev-server/index.js';
import { commandName } from './command-name.js';
import type { DevFlags } from './commands/serve.js';
import { otherWorkers } from './other-workers.js';
import { createServingWorker, runUntilSignal } from './serving.js';
import type { Terminal } from './terminal.js';
import { toShellWord } from './text.js';
import { describeConfig, queuesText, serveWorker } from './worker.js';

export async function serveDev(flags: DevFlags, terminal: Terminal): Promise<void> {
  if ((flags.address ?? configuredAddress()) !== undefined) {
    terminal.note('A Temporal server is configured: none is started.');
    await serveWorker(flags, terminal, { servesMainQueue: true });
    return;
  }
  // A config that is wrong should not leave a server behind.
  const loaded = await loadConfig(flags.config);
  const { config } = loaded;
  const taskQueue = flags.taskQueue ?? config.taskQueue;
  const server = await keepDevServer(flags, terminal);
  try {
    const { address, uiAddress, temporalPath } = server.present();
    const serving = await createServingWorker({
      ...flags,
      address,
      config,
      taskQueue,
      servesMainQueue: true,
    });
    const { worker, connection, namespace } = serving;
    const others = await otherWorkers(connection, namespace, taskQueue);
    await runUntilSignal(serving, terminal, {
      announce() {
        terminal.note(`Web UI: ${terminal.noteColours.bold(uiAddress)}`);
        terminal.note(`Worker: ${queuesText(worker)} (process ${process.pid})`);
        if (others.length > 0) {
          terminal.note(terminal.noteColours.yellow(sharedQueue(taskQueue, others)));
        }
        describeConfig(loaded, taskQueue, worker, terminal);
        if (temporalPath !== undefined) terminal.note(`Temporal CLI: ${temporalPath}`);
        terminal.note(suggestions(flags.dataDir, taskQueue, address, temporalPath));
      },
      last: () =>
        `The Temporal server goes on (process ${server.present().pid}); the next \`holdfast dev\` adopts it.`,
    });
  } finally {
    await server.stop();
  }
}

function sharedQueue(taskQueue: string, others: readonly string[]): string {
  return (
    `Other workers serve the task queue ${taskQueue} as well (${others.join(', ')}): each takes what comes, with ` +
    'its own config and in its own directory. Stop them, or keep apart with --task-queue.'
  );
}

function suggestions(
  dataDir: string | undefined,
  taskQueue: string,
  address: string,
  temporalPath: string | undefined,
): string {
  const name = commandName();
  // Other commands find the server of the default data folder by themselves.
  const server = dataDir === undefined ? '' : ` --address ${address}`;
  const queue = taskQueue === 'holdfast' ? '' : ` --task-queue ${taskQueue}`;
  return [
    'Try, in another terminal:',
    `  ${name} run${queue}${server} "List the files here"`,
    `  ${name} list${server}`,
    `  ${temporalCommand(temporalPath)} workflow start --address ${address} --type agent --task-queue ${taskQueue} --workflow-id demo --input '"List the files here"'`,
    'Ctrl-C stops the worker and the server; what runs goes on at the next start.',
  ].join('\n');
}

/** As it can be pasted: a downloaded executable is not on the PATH. */
function temporalCommand(path: string | undefined): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return path === undefined || folders.includes(dirname(path)) ? 'temporal' : toShellWord(path);
}

interface KeptServer {
  readonly present: () => DevServer;
  readonly stop: () => Promise<void>;
}

/** Starts or adopts the local server, and starts it again on the same ports when it dies. */
async function keepDevServer(flags: DevFlags, terminal: Terminal): Promise<KeptServer> {
  const options: StartDevServerOptions = {
    log: (line) => terminal.note(line),
    ...(flags.dataDir === undefined ? {} : { dataDirectory: flags.dataDir }),
    ...(flags.port === undefined ? {} : { port: flags.port }),
    ...(flags.uiPort === undefined ? {} : { uiPort: flags.uiPort }),
  };
  let present = await startDevServer(options);
  let isStopping = false;
  const how = present.adopted ? 'runs already' : 'started';
  terminal.note(`Temporal server ${how}: ${present.address} (log: ${present.logFile})`);

  const watch = async (): Promise<void> => {
    while (!isStopping) {
      await present.gone;
      if (isStopping) return;
      terminal.note(
        terminal.noteColours.yellow('The Temporal server is gone; starting it again …'),
      );
      const { address, uiAddress } = present;
      const [port, uiPort] = [portOf(address), portOf(uiAddress)];
      present = await startDevServer({ ...options, port, uiPort });
      terminal.note(`Temporal server started: ${present.address}`);
    }
  };
  watch().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    terminal.note(terminal.noteColours.red(`holdfast: ${reason}`));
    process.exit(1);
  });

  return {
    present: () => present,
    async stop() {
      isStopping = true;
      await present.stop();
    },
  };
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}
