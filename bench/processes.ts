// Worker processes that the benchmark starts, kills and measures.

import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export type WorkerProcessOptions = {
  readonly address: string;
  readonly taskQueue: string;
  /** Of the scripted model. */
  readonly baseURL: string;
} & (
  | { readonly kind: 'holdfast'; readonly workspace: string }
  | { readonly kind: 'bare'; readonly bundlePath: string }
);

export interface WorkerProcess extends AsyncDisposable {
  readonly pid: number;
  /** From the start of the process until it polls. */
  readonly startMs: number;
  /** Kills it with SIGKILL; returns when, in `performance.now()`. */
  kill(): number;
  readonly ended: Promise<unknown>;
}

/** However the benchmark ends, its children end with it. */
export function endWithThisProcess(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}

const children = new Set<ChildProcess>();
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const workerFile = fileURLToPath(new URL('worker-process.ts', import.meta.url));

/** Starts a worker; resolves when it polls. */
export async function startWorkerProcess(options: WorkerProcessOptions): Promise<WorkerProcess> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--import', 'tsx', workerFile, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithThisProcess(child);
  let errors = '';
  child.stderr.on('data', (text: Buffer) => (errors = `${errors}${text.toString()}`.slice(-4_000)));
  const ended = once(child, 'exit');
  await untilReady(child, () => errors);
  return {
    pid: child.pid ?? 0,
    startMs: performance.now() - startedAt,
    ended,
    kill() {
      child.kill('SIGKILL');
      return performance.now();
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function untilReady(child: ChildProcess, errors: () => string): Promise<void> {
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (text: Buffer) => {
      output += text.toString();
      if (output.includes('ready\n')) resolve();
    });
    child.once('exit', () => reject(new Error(`A worker ended before it polled: ${errors()}`)));
  });
}

/** Bytes of memory a process holds. */
export async function residentBytes(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.trim()) * 1024;
}
