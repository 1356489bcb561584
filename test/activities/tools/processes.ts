// What runs on this machine, as tests of processes need to know it.

import { readdirSync, readFileSync } from 'node:fs';
import { expect, vi } from 'vitest';

/** A zombie is not alive. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** Ids of live processes whose command line is `command`. */
export function processesOf(command: string): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
      return line === command && isAlive(Number(name)) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

let nextDuration = 40_000 + (process.pid % 10_000) * 100;

/** A command line that no other process has. */
export const uniqueSleep = () => `sleep ${(nextDuration += 1)}`;

export const gone = (command: string) =>
  vi.waitFor(() => expect(processesOf(command)).toEqual([]), { timeout: 5_000, interval: 20 });

export const running = (command: string, count = 1) =>
  vi.waitFor(() => expect(processesOf(command).length).toBeGreaterThanOrEqual(count), {
    timeout: 5_000,
    interval: 20,
  });
