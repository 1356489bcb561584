// Turns a model call's problem into the failure that the workflow's retry policy acts on. The policy knows
// no limit on attempts (a lost worker is no failure of the provider), so the limit is kept here.

import { ApplicationFailure } from '@temporalio/activity';
import { FailureType } from '../../protocol/failure-types.js';
import { maxModelAttempts } from '../../protocol/limits.js';
import { toModelProblem } from './model-problem.js';
import type { ModelProblem } from './model-problem.js';

/** The longest wait a provider may ask for; asked for more, the call fails at once. */
const maxRetryAfterMs = 5 * 60 * 1000;

const firstDelayMs = 1000;
const maxDelayMs = 60_000;

export interface FailureContext {
  /** The provider's name or host. */
  readonly provider?: string;
  /** Provider failures of earlier attempts. */
  readonly earlierFailures?: number;
  /** Takes secrets out of a text. */
  readonly scrub?: (text: string) => string;
}

/** The failure, and the wait before the next attempt where there is one. */
export interface ModelFailure {
  readonly failure: ApplicationFailure;
  readonly retry?: { readonly reason: string; readonly delayMs: number };
}

/**
 * Retryable: no answer, a time-out, an unusable answer, 408, 409, 425, 429 but for quota, 5xx; at the sixth
 * time it is final. Its own next-retry delay is what the provider asked for, or 1, 2, 4, … seconds.
 * Everything else would fail the same way again.
 */
export function toModelFailure(error: unknown, context: FailureContext = {}): ModelFailure {
  const { provider = '', earlierFailures = 0, scrub = (text) => text } = context;
  const problem = toModelProblem(error, provider);
  const reason = scrub(problem.message);
  switch (problem.kind) {
    case 'rejected':
      return { failure: final(FailureType.ModelRequestRejected, reason) };
    case 'overflow':
      return { failure: final(FailureType.ContextLengthExceeded, reason) };
    case 'tooLarge':
      return { failure: final(FailureType.ModelAnswerTooLarge, reason) };
    case 'unavailable':
      return toUnavailable(problem, reason, earlierFailures + 1);
  }
}

function toUnavailable(problem: ModelProblem, reason: string, failures: number): ModelFailure {
  const type = FailureType.ModelUnavailable;
  const asked = problem.retryAfterMs;
  if (asked !== undefined && asked > maxRetryAfterMs) {
    const text = `${reason} It asks to wait ${describeWait(asked)}, longer than the ${describeWait(maxRetryAfterMs)} that are waited.`;
    return { failure: final(type, text) };
  }
  if (failures >= maxModelAttempts) {
    return { failure: final(type, `${reason} (${failures} attempts failed; this was the last.)`) };
  }
  const delayMs = asked ?? Math.min(firstDelayMs * 2 ** (failures - 1), maxDelayMs);
  const failure = ApplicationFailure.create({
    type,
    message: reason,
    nonRetryable: false,
    nextRetryDelay: delayMs,
  });
  return { failure, retry: { reason, delayMs } };
}

function final(type: FailureType, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}

function describeWait(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 120) return `${seconds} seconds`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}
