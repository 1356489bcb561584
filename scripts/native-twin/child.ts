// A process of the twin: with a log of its own, in a session of its own, so that Ctrl-C is the twin's business.

import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Child {
  readonly pid: number;
  /** How it ended; undefined while it runs. */
  readonly ending: () => string | undefined;
  /** The same, when it has. */
  readonly ended: Promise<string>;
  /** SIGKILL, and resolves when it is gone. */
  kill(): Promise<void>;
  /** The signal, and SIGKILL when that does not end it in time. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

export interface ChildOptions extends Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'> {
  readonly logFile: string;
}

const stopMs = 20_000;

export function startChild(
  command: string,
  args: readonly string[],
  { logFile, ...options }: ChildOptions,
): Child {
  const log = openSync(logFile, 'a');
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  const ended = endOf(child);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} could not be started.`);
  let ending: string | undefined;
  void ended.then((how) => (ending = how));
  return {
    pid,
    ending: () => ending,
    ended,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop(signal) {
      if (ending !== undefined) return;
      child.kill(signal);
      const timer = new AbortController();
      await Promise.race([ended, sleep(stopMs, undefined, timer).catch(() => undefined)]);
      timer.abort();
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function endOf(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    return `it ended with ${signal ?? `code ${code}`}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export interface WaitOptions {
  readonly what: string;
  readonly isReady: () => Promise<boolean>;
  readonly child: Child;
  readonly logFile: string;
  readonly timeoutMs: number;
}

/** @throws with the end of its log, when it ends before it is ready, or is not in time */
export async function untilReady(options: WaitOptions): Promise<void> {
  const { what, isReady, child, logFile, timeoutMs } = options;
  const end = Date.now() + timeoutMs;
  while (!(await isReady())) {
    const problem =
      child.ending() ?? (Date.now() > end ? `it is not ready after ${timeoutMs / 1_000} s` : '');
    if (problem !== '') throw new Error(`${what}: ${problem}.\n${lastLines(logFile)}`);
    await sleep(50);
  }
}

export function lastLines(file: string): string {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(-12)
    .map((line) => line.slice(0, 300))
    .join('\n');
}
