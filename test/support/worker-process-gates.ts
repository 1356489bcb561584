// Gates that tests close to hold a worker process at a known place: a file that is there keeps whoever
// reaches the gate waiting. Who reached which gate stands in a log, a line each.

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const logOf = (folder: string) => join(folder, 'reached.log');
const fileOf = (folder: string, gate: string) => join(folder, `${gate}.closed`);

/** Waits while the gate is closed. */
export async function passGate(folder: string, gate: string, signal?: AbortSignal): Promise<void> {
  reach(folder, gate);
  while (existsSync(fileOf(folder, gate))) {
    await sleep(20, undefined, signal === undefined ? {} : { signal });
  }
}

/** The same for code that cannot wait: the whole process stands still. */
export function passGateSync(folder: string, gate: string): void {
  if (!existsSync(fileOf(folder, gate))) return;
  reach(folder, gate);
  const cell = new Int32Array(new SharedArrayBuffer(4));
  while (existsSync(fileOf(folder, gate))) Atomics.wait(cell, 0, 0, 20);
}

function reach(folder: string, gate: string): void {
  appendFileSync(logOf(folder), `${gate} ${process.pid}\n`);
}

/** The test's side. */
export interface Gates {
  readonly folder: string;
  close(gate: string): void;
  open(gate: string): void;
  /** Ids of the processes that reached the gate, in order, a process as often as it came. */
  reached(gate: string): readonly number[];
  /** Opens all gates and forgets who reached them. */
  reset(): void;
}

export function createGates(folder: string): Gates {
  mkdirSync(folder, { recursive: true });
  return {
    folder,
    close: (gate) => writeFileSync(fileOf(folder, gate), ''),
    open: (gate) => rmSync(fileOf(folder, gate), { force: true }),
    reached: (gate) => {
      if (!existsSync(logOf(folder))) return [];
      return readFileSync(logOf(folder), 'utf8')
        .split('\n')
        .map((line) => line.split(' '))
        .filter(([name]) => name === gate)
        .map(([, pid]) => Number(pid));
    },
    reset: () => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
    },
  };
}
