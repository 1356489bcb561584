// A pipe for a command's output. Node gives children sockets, which cannot be opened again by name:
// `echo oops > /dev/stderr` would fail in them. A FIFO without a name is a real pipe, and one pipe for
// both streams keeps their lines in the order they were written.

import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface OutputPipe {
  /** What the child writes to. */
  readonly writeEnd: number;
  readonly output: Socket;
  /** To be called once the child has its own: the output ends when the last writer has gone. */
  closeWriteEnd(): void;
}

export async function openOutputPipe(): Promise<OutputPipe> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-'));
  try {
    const path = join(folder, 'output');
    await promisify(execFile)('mkfifo', ['-m', '600', path]);
    // Neither blocks: the reader by its flag, the writer because there is a reader.
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writeEnd = openSync(path, constants.O_WRONLY);
    const output = new Socket({ fd: readEnd, readable: true, writable: false });
    return { writeEnd, output, closeWriteEnd: () => closeSync(writeEnd) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
