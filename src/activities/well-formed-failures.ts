// Failures that can be carried. Temporal writes a failure's texts into Protocol Buffers, and the SDK shuts a
// worker down that writes half a surrogate pair there: one odd answer of a provider, retried on one worker
// after another, would stop them all.

import { wellFormed } from '../protocol/text.js';

/** The same activities; what they throw has well-formed texts, its causes included. */
export function withWellFormedFailures<Activities extends object>(
  activities: Activities,
): Activities {
  const entries = Object.entries(activities).map(([name, activity]) => {
    const call = activity as (...args: readonly unknown[]) => unknown;
    return [
      name,
      async (...args: readonly unknown[]) => {
        try {
          return await call(...args);
        } catch (error) {
          mend(error);
          throw error;
        }
      },
    ];
  });
  return Object.fromEntries(entries) as Activities;
}

function mend(error: unknown): void {
  const seen = new Set<Error>();
  for (let at = error; at instanceof Error && !seen.has(at); at = at.cause) {
    seen.add(at);
    at.message = wellFormed(at.message);
    if (at.stack !== undefined) at.stack = wellFormed(at.stack);
  }
}
