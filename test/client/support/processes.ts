// Real processes for tests, never left behind.

import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import type { ScriptedWorkerOptions } from './scripted-worker.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

export interface RunningProcess extends AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  /** What it has written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the exit code, null after a signal. */
  readonly exit: Promise<number | null>;
}

/** Runs a file of this repository, given from its root. */
export function startProcess(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd: string = root,
): RunningProcess {
  const child = spawn(process.execPath, ['--import', tsx, join(root, file), ...args], {
    cwd,
    env: { ...process.env, ...env },
  });
  const written = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (written.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (written.stderr += text));
  const exit = once(child, 'close').then(([code]) => code as number | null);
  const end = async () => {
    child.kill('SIGKILL');
    await exit;
  };
  // A test that timed out never comes to dispose of it.
  onTestFinished(end);
  return {
    child,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    exit,
    [Symbol.asyncDispose]: end,
  };
}

/** A scripted worker in a process of its own, polling. */
export async function startWorkerProcess(options: ScriptedWorkerOptions): Promise<RunningProcess> {
  const worker = startProcess('test/client/support/worker-process.ts', [JSON.stringify(options)]);
  while (!worker.stdout().includes('ready')) {
    const first = await Promise.race([once(worker.child.stdout, 'data'), worker.exit]);
    if (!Array.isArray(first)) throw new Error(`the worker ended: ${worker.stderr()}`);
  }
  return worker;
}
