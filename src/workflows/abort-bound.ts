// Bounds how long a run, once aborted, waits for what it has begun.

import { CancellationScope, patched, sleep } from '@temporalio/workflow';
import { timeouts } from '../protocol/limits.js';

/** What a pending effect settles with when an abort has waited long enough. */
export const gaveUp = Symbol('gave up waiting after an abort');

/** Waiting beyond the worker's own bound: it answers first, unless it ignores even that. */
const abortBoundMs = timeouts.abortGiveUpMs + 3_000;

/**
 * Awaits a call; once the run is aborted, no longer than the bound.
 *
 * Not by `Promise.race`: every race would stay a reaction of the one promise that outlives them all, and in
 * the sandbox each promise costs a stack trace.
 */
export function abortBound(scope: CancellationScope, hasEnded: () => boolean) {
  const waiting = new Set<() => void>();
  let isOver = false;
  scope.cancelRequested.catch(async () => {
    // What comes after the run's end cancels its scope too, and finds nothing that waits.
    if (hasEnded() && patched('bound-present-run-only')) return;
    await CancellationScope.nonCancellable(() => sleep(abortBoundMs));
    isOver = true;
    for (const giveUp of waiting) giveUp();
  });
  return <T>(call: Promise<T>): Promise<T | typeof gaveUp> =>
    new Promise((resolve, reject) => {
      const giveUp = () => resolve(gaveUp);
      const settle = (how: () => void) => {
        waiting.delete(giveUp);
        how();
      };
      waiting.add(giveUp);
      call.then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => settle(() => reject(error)),
      );
      if (isOver) giveUp();
    });
}
