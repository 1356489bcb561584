// Runs one shell command and sees it to its end: output as it comes, exit, time-out, abort, and the end
// of all its processes where they must end. What becomes of the output is the caller's business.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { openOutputPipe } from './output-pipe.js';
import { killTree, markVariable } from './process-tree.js';
import type { KillTimes } from './process-tree.js';
import { supervisor } from './supervisor.js';

const killTimes: KillTimes = { graceMs: 500, giveUpMs: 9_000 };

/** How long output may be silent, and how long it may last in all, once the shell has ended. */
const drainTimes = { silentMs: 300, totalMs: 3_000 };

export interface ShellCommand {
  readonly command: string;
  readonly folder: string;
  readonly environment: { readonly [name: string]: string };
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Gets the output piece by piece; the command waits while this does. */
  readonly write: (piece: Buffer) => Promise<void>;
}

export interface ShellOutcome {
  /** Null when a signal ended the shell, or when it could not be waited for. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why its processes were killed; absent when the shell ended by itself. */
  readonly stopped?: 'timeout' | 'signal';
  /** False: processes are still alive although they were killed. */
  readonly dead: boolean;
  /** The shell has ended, but processes it started still hold its output. */
  readonly background: boolean;
}

// The shell waits for a line, so that nothing runs before the supervisor knows of it, and ends by itself
// when the worker dies before that.
const waitThenRun = 'read -r go <&3 && exec 3<&- && exec "$0" -c "$1"';

/** @throws when no process can be started. */
export async function runShell(command: ShellCommand): Promise<ShellOutcome> {
  const mark = randomUUID();
  const pipe = await openOutputPipe();
  const shell = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
  const child = spawn('/bin/sh', ['-c', waitThenRun, shell, command.command], {
    cwd: command.folder,
    detached: true,
    env: { ...command.environment, [markVariable]: nestedMark(mark) },
    stdio: ['ignore', pipe.writeEnd, pipe.writeEnd, 'pipe'],
  });
  pipe.closeWriteEnd();
  const exited = waitForExit(child);
  const rootPid = child.pid;
  if (rootPid === undefined) {
    pipe.output.destroy();
    await exited;
    throw new Error('The shell could not be started.');
  }
  supervisor.add({ mark, rootPid });
  try {
    const drain = readOutput(pipe.output, command.write);
    goAhead(child);
    const stopped = await firstOf(exited, command);
    const state = stopped === undefined ? 'dead' : await killTree({ rootPid, mark }, killTimes);
    const background = await drain();
    const { exitCode, signal } = state === 'alive' ? noExit : await exited;
    const dead = state === 'dead';
    return { exitCode, signal, dead, background, ...(stopped === undefined ? {} : { stopped }) };
  } finally {
    supervisor.remove(mark);
  }
}

const noExit: Exit = { exitCode: null, signal: null };

/** A worker may itself run inside a command: its commands then carry that command's mark as well. */
function nestedMark(mark: string): string {
  const outer = process.env[markVariable];
  return outer === undefined || outer === '' ? mark : `${outer},${mark}`;
}

function goAhead(child: ChildProcess): void {
  const start = child.stdio[3] as unknown as Socket;
  start.on('error', () => undefined);
  start.end('go\n');
}

interface Exit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

function waitForExit(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
    child.once('error', () => resolve({ exitCode: null, signal: null }));
  });
}

/** Undefined when the shell ended first. */
async function firstOf(
  exited: Promise<Exit>,
  { signal, timeoutMs }: ShellCommand,
): Promise<'timeout' | 'signal' | undefined> {
  if (signal.aborted) return 'signal';
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  try {
    return await Promise.race([
      exited.then(() => undefined),
      new Promise<'timeout'>((resolve) => {
        timer = setTimeout(() => resolve('timeout'), timeoutMs);
      }),
      new Promise<'signal'>((resolve) => {
        onAbort = () => resolve('signal');
        signal.addEventListener('abort', onAbort);
      }),
    ]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Starts reading. The returned function is called when the shell has ended: it waits for the rest, but
 * not for processes in the background that keep the pipe open. It answers whether there are such; what
 * they write later is read and dropped, so that they are not killed by a broken pipe.
 */
function readOutput(output: Socket, write: ShellCommand['write']): () => Promise<boolean> {
  let lastPiece = performance.now();
  let writing = Promise.resolve();
  const ended = new Promise<void>((resolve) => {
    output.once('close', resolve);
  });
  output.on('error', () => undefined);
  output.on('data', (piece: Buffer) => {
    lastPiece = performance.now();
    output.pause();
    writing = write(piece)
      .catch(() => undefined)
      .then(() => {
        lastPiece = performance.now();
        output.resume();
      });
  });
  return async () => {
    const from = performance.now();
    lastPiece = Math.max(lastPiece, from);
    let open = true;
    void ended.then(() => (open = false));
    while (open) {
      await writing;
      const now = performance.now();
      const waitMs = Math.min(lastPiece + drainTimes.silentMs, from + drainTimes.totalMs) - now;
      if (waitMs <= 0) break;
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, waitMs))]);
    }
    if (open) {
      output.removeAllListeners('data');
      output.on('data', () => undefined);
      output.resume();
      output.unref();
    }
    await writing;
    return open;
  };
}
