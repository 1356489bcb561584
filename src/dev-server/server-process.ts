// The server's process: whether it lives, and how it ends. It is known by its pid and its database, as
// a pid alone may belong to anything after a while.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface ServerProcess {
  readonly pid: number;
  readonly database: string;
}

/** A dead process that nobody has waited for is not running: its command line is empty. */
export async function isServerRunning({ pid, database }: ServerProcess): Promise<boolean> {
  const command = await commandLineOf(pid);
  return command.includes('start-dev') && command.includes(database);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Asks the server to end and, when it has not within the grace time, makes it. */
export async function endServer(server: ServerProcess, graceMs = 10_000): Promise<void> {
  for (const [signal, waitMs] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', 5_000],
  ] as const) {
    if (!(await isServerRunning(server))) return;
    kill(server.pid, signal);
    if (await waitFor(async () => !(await isServerRunning(server)), waitMs)) return;
  }
  throw new Error(
    `The local Temporal server (process ${server.pid}) does not end; kill it by hand.`,
  );
}

/** Polls until `condition` holds; false when it did not within the time. */
export async function waitFor(
  condition: () => Promise<boolean>,
  timeoutMs: number,
  everyMs = 50,
): Promise<boolean> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (Date.now() >= end) return false;
    await sleep(everyMs);
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function commandLineOf(pid: number): Promise<string> {
  try {
    if (process.platform === 'linux') {
      const parts = await readFile(`/proc/${pid}/cmdline`, 'utf8');
      return parts.replaceAll('\0', ' ');
    }
    const { stdout } = await promisify(execFile)('ps', ['-ww', '-p', String(pid), '-o', 'args=']);
    return stdout;
  } catch {
    return '';
  }
}
