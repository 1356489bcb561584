// What `holdfast worker` does: a worker on the configured server.

import { modelsWithoutKey, loadConfig } from '../config/index.js';
import type { LoadedConfig } from '../config/index.js';
import { defaultWorkspaceName } from '../protocol/session.js';
import type { AgentWorker } from '../worker/agent-worker.js';
import type { WorkerFlags } from './commands/serve.js';
import { chosenAddress } from './options.js';
import { createServingWorker, runUntilSignal } from './serving.js';
import type { Terminal } from './terminal.js';

export async function serveWorker(
  flags: WorkerFlags,
  terminal: Terminal,
  { servesMainQueue = false }: { readonly servesMainQueue?: boolean } = {},
): Promise<void> {
  const loaded = await loadConfig(flags.config);
  const address = await chosenAddress(flags);
  const { config } = loaded;
  const taskQueue = flags.taskQueue ?? config.taskQueue;
  const server = address === undefined ? {} : { address };
  const serving = await createServingWorker({
    ...flags,
    ...server,
    config,
    taskQueue,
    servesMainQueue,
  });
  const { namespace, worker } = serving;
  await runUntilSignal(serving, terminal, {
    announce() {
      terminal.note(`Worker on ${serving.address}, namespace ${namespace}, ${queuesText(worker)}.`);
      describeConfig(loaded, taskQueue, worker, terminal);
    },
    healthFile: flags.healthFile,
  });
}

/** `task queue a`, `task queues a, b`. */
export function queuesText({ taskQueues }: AgentWorker): string {
  return `${taskQueues.length === 1 ? 'task queue' : 'task queues'} ${taskQueues.join(', ')}`;
}

/** Which config holds, what it leaves to other workers, and which keys it misses. */
export function describeConfig(
  { config, file }: LoadedConfig,
  taskQueue: string,
  { servesMainQueue }: AgentWorker,
  terminal: Terminal,
): void {
  terminal.note(`Config: ${file ?? 'none found, the defaults hold'}`);
  const warn = (text: string) => terminal.note(terminal.noteColours.yellow(text));
  const { [defaultWorkspaceName]: main, ...named } = config.workspaces;
  if (main === undefined) {
    const names = Object.keys(named).join(', ');
    warn(
      servesMainQueue
        ? `The config declares no workspace 'default': sessions have to choose one (${names}).`
        : `The config declares no workspace 'default': this worker only runs the tools of ${names}. Another one has to serve the task queue ${taskQueue}.`,
    );
  }
  if (!servesMainQueue) return;
  for (const { model, variable } of modelsWithoutKey(config, process.env)) {
    warn(
      `The model '${model}' needs ${variable}, which is not set: calls that come to this worker fail.`,
    );
  }
}
