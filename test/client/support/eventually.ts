import { vi } from 'vitest';

/** Waits until `check` no longer throws; half a minute, as the machine may be busy. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 30_000, interval: 30 });
}
