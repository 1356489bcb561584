// Runs a program to its end and keeps what it printed.

import { spawn } from 'node:child_process';

export interface CommandOptions {
  readonly timeoutMs: number;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Answers what the program printed, on stdout and then on stderr.
 * @throws Error with its last words when it cannot be started, fails or takes longer than the time-out.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  { timeoutMs, env }: CommandOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      ...(env === undefined ? {} : { env }),
    });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk));
    child.once('error', (error: NodeJS.ErrnoException) => reject(new Error(notStarted(error))));
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output + errors);
      else if (signal !== null) reject(new Error(`it was stopped after ${timeoutMs / 1000} s`));
      else reject(new Error(lastLine(errors) ?? lastLine(output) ?? `it ended with code ${code}`));
    });
  });
}

function notStarted(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'there is no such program';
  if (error.code === 'EACCES') return 'it is not executable';
  return error.message;
}

function lastLine(text: string): string | undefined {
  return text.trim().split('\n').at(-1)?.trim() || undefined;
}
