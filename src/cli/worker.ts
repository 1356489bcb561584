// What `holdfast worker` does: a worker on the configured server.

import { modelsWithoutKey, loadConfig } from '../config/index.js';
import type { LoadedConfig } from '../config/index.js';
import type { ServeFlags } from './commands/serve.js';
import { chosenAddress } from './options.js';
import { createServingWorker, runUntilSignal } from './serving.js';
import type { Terminal } from './terminal.js';

export async function serveWorker(flags: ServeFlags, terminal: Terminal): Promise<void> {
  const loaded = await loadConfig(flags.config);
  const address = await chosenAddress(flags);
  const { config } = loaded;
  const taskQueue = flags.taskQueue ?? config.taskQueue;
  const server = address === undefined ? {} : { address };
  const serving = await createServingWorker({ ...flags, ...server, config, taskQueue });
  const { namespace } = serving;
  terminal.note(`Worker on ${serving.address}, namespace ${namespace}, task queue ${taskQueue}.`);
  describeConfig(loaded, terminal);
  await runUntilSignal(serving, terminal);
}

/** Which config holds, and which keys it misses. */
export function describeConfig({ config, file }: LoadedConfig, terminal: Terminal): void {
  terminal.note(`Config: ${file ?? 'none found, the defaults hold'}`);
  for (const { model, variable } of modelsWithoutKey(config, process.env)) {
    terminal.note(
      terminal.noteColours.yellow(
        `The model '${model}' needs ${variable}, which is not set: calls that come to this worker fail.`,
      ),
    );
  }
}
