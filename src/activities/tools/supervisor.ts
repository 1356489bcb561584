// Ends what commands started when the worker itself is killed, also with SIGKILL: a tiny process in a
// session of its own holds a pipe from the worker and acts when that pipe closes. One serves all commands
// of a worker process; it starts with the first and is replaced when it dies.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { supervisorScript } from './supervisor-script.js';

/** The processes of one command, as `process-tree.ts` finds them. */
export interface Supervised {
  readonly mark: string;
  readonly rootPid: number;
}

export class Supervisor {
  #child: ChildProcess | undefined;
  readonly #commands = new Map<string, Supervised>();

  /**
   * From its return on the command's processes do not outlive this process. Call it before the command
   * is told to go ahead.
   */
  add(command: Supervised): void {
    this.#commands.set(command.mark, command);
    if (this.#child === undefined) this.#start();
    else this.#say(`add ${command.mark} ${command.rootPid}`);
  }

  /** The command has ended; what it left behind on purpose lives on. */
  remove(mark: string): void {
    if (this.#commands.delete(mark)) this.#say(`remove ${mark}`);
  }

  /** The supervisor's process id, while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  #start(): void {
    const child = spawn('/bin/sh', ['-c', supervisorScript], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    });
    this.#child = child;
    child.once('exit', () => {
      this.#child = undefined;
      if (this.#commands.size > 0) this.#start();
    });
    child.once('error', () => {
      this.#child = undefined;
    });
    child.stdin.on('error', () => undefined);
    child.unref();
    // A pipe's handle can be unreferenced, though its type does not say so.
    (child.stdin as unknown as { unref(): void }).unref();
    for (const { mark, rootPid } of this.#commands.values()) this.#say(`add ${mark} ${rootPid}`);
  }

  /** Pipes are written to at once: the line is with the kernel when this returns. */
  #say(line: string): void {
    this.#child?.stdin?.write(`${line}\n`);
  }
}

/** The worker process's supervisor. */
export const supervisor = new Supervisor();
