// Processes that the benchmark starts, kills and measures: workers, and the model where it must not share the
// benchmark's own process.

import { fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

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

export interface ModelProcess extends AsyncDisposable {
  readonly baseURL: string;
  /** Requests that arrived so far. */
  requests(): Promise<number>;
}

/** What the model's process tells: once where it listens, then as often as it is asked. */
export type ModelMessage = { readonly baseURL: string } | { readonly requests: number };

const modelFile = fileURLToPath(new URL('model-process.ts', import.meta.url));

/** Starts the scripted model that prompts drive; see `turn-script.ts`. */
export async function startModelProcess(): Promise<ModelProcess> {
  const child = fork(modelFile, { execArgv: ['--import', 'tsx'], stdio: 'inherit' });
  endWithThisProcess(child);
  const ended = once(child, 'exit');
  const next = async () => (await once(child, 'message'))[0] as ModelMessage;
  const told = await Promise.race([next(), ended]);
  if (!('baseURL' in told)) throw new Error('The model ended before it listened.');
  return {
    baseURL: told.baseURL,
    async requests() {
      const answer = next();
      child.send('requests');
      const message = await answer;
      return 'requests' in message ? message.requests : Number.NaN;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Megabytes of memory a process holds. */
export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6;
}

/** The kernel counts a process's time in hundredths of a second, whatever its own clock does. */
const millisecondsPerTick = 10;

/** Processor time that a process has used, all its threads together. */
export async function processorMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The second field is the command's name in parentheses, which may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * millisecondsPerTick;
}
