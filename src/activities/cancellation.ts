// Why an activity is being cancelled: an abort that a person asked for, or an end of this attempt that
// another attempt on another worker makes good.

import { ApplicationFailure, Context } from '@temporalio/activity';
import { FailureType } from '../protocol/failure-types.js';

export type Ending =
  /** Not cancelled. */
  | 'none'
  /** The run is aborted: return what there is. */
  | 'abort'
  /** The worker shuts down, the activity was paused, reset or timed out: fail retryably. */
  | 'interrupted';

export function ending(context: Context = Context.current()): Ending {
  if (!context.cancellationSignal.aborted) return 'none';
  const details = context.cancellationDetails;
  if (details === undefined || details.cancelRequested) return 'abort';
  return 'interrupted';
}

/** The failure of an interrupted attempt. Another attempt is made where the retry policy has one. */
export function interruptedFailure(): ApplicationFailure {
  return ApplicationFailure.create({
    type: FailureType.WorkerShuttingDown,
    message: 'The worker stopped before the activity had ended; another attempt goes on elsewhere.',
    nonRetryable: false,
  });
}

/** An earlier attempt may have had its effect: the workflow tells the model that the outcome is unknown. */
export function notRunAgainFailure(): ApplicationFailure {
  return ApplicationFailure.create({
    type: FailureType.WorkerShuttingDown,
    message: 'An earlier attempt was interrupted; a tool that must not run twice is not run again.',
    nonRetryable: true,
  });
}
