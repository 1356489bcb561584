// How a run awaits a hook, whether it is an activity or a function of the workflow: a throw and an abort
// are outcomes, and after an abort no hook is waited for beyond the bound.

import { gaveUp } from './abort-bound.js';
import type { abortBound } from './abort-bound.js';

export type HookOutcome<T> =
  | { readonly kind: 'returned'; readonly value: T }
  | { readonly kind: 'threw'; readonly errorMessage: string }
  | { readonly kind: 'aborted' };

export interface HookWaiting {
  readonly isAborted: () => boolean;
  readonly untilGivenUp: ReturnType<typeof abortBound>;
}

/** @throws what `messageOf` throws: bugs, and what is no affair of a hook */
export async function hookOutcome<T>(
  call: Promise<T>,
  { isAborted, untilGivenUp }: HookWaiting,
  messageOf: (error: unknown) => string,
): Promise<HookOutcome<T>> {
  try {
    const value = await untilGivenUp(call);
    return value === gaveUp || isAborted() ? { kind: 'aborted' } : { kind: 'returned', value };
  } catch (error) {
    if (isAborted()) return { kind: 'aborted' };
    return { kind: 'threw', errorMessage: messageOf(error) };
  }
}
