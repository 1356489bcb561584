// What a failed activity says to people.

import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  TimeoutFailure,
} from '@temporalio/workflow';

/** @throws whatever is no failure of an activity: a bug of ours. */
export function failureMessage(error: unknown): string {
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure) return cause.message;
  if (cause instanceof TimeoutFailure) {
    return `No worker finished the activity ${error.activityType} in time (${cause.timeoutType}).`;
  }
  if (cause instanceof CancelledFailure) {
    return `The activity ${error.activityType} was cancelled.`;
  }
  return cause?.message ?? error.message;
}
