// A worker as the command line starts it, in a process of its own that can be killed.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface WorkerProcess {
  readonly pid: number;
  /** SIGKILL: nothing in the process gets to know of it. Answers when, in milliseconds since the epoch. */
  kill(): Promise<number>;
  /** SIGTERM, and SIGKILL for one that does not end. */
  stop(): Promise<void>;
}

export interface WorkerProcessOptions {
  readonly address: string;
  readonly taskQueue: string;
  readonly configFile: string;
  /** Called as soon as there is a process, so that it can be stopped before it is ready. */
  readonly started: (worker: WorkerProcess) => void;
  /** Gets what it writes to standard error. */
  readonly heard?: (text: string) => void;
}

/** Resolves when it polls. */
export async function startWorkerProcess(options: WorkerProcessOptions): Promise<WorkerProcess> {
  const { address, taskQueue, configFile } = options;
  const flags = ['--address', address, '--task-queue', taskQueue, '--config', configFile];
  // In a session of its own: Ctrl-C is the demo's business.
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'src/cli/main.ts', 'worker', ...flags],
    { cwd: root, detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(child, 'close');
  const { pid } = child;
  if (pid === undefined) throw new Error('No worker process could be started.');
  const worker: WorkerProcess = {
    pid,
    async kill() {
      child.kill('SIGKILL');
      const at = Date.now();
      await ended;
      return at;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = new AbortController();
      await Promise.race([ended, sleep(5_000, undefined, timer).catch(() => undefined)]);
      timer.abort();
      child.kill('SIGKILL');
      await ended;
    },
  };
  options.started(worker);

  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      options.heard?.(text);
      said = (said + text).slice(-4_000);
      if (said.includes('Worker on')) resolve();
    });
    void ended.then(() => reject(new Error(`A worker ended before it was ready. ${said.trim()}`)));
  });
  return worker;
}

/** A zombie is not alive: where nobody collects orphans, dead processes keep their ids. */
export async function isProcessAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return !/\) [ZX] /.test(stat);
}
