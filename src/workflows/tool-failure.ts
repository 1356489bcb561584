// The result of a tool call whose activity failed: its worker was lost, the run was aborted, or the worker
// could not even begin. The model is told what is known, and no more.

import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { ToolResult } from '../protocol/activities.js';
import { toCanonicalJson } from '../protocol/json.js';
import { FailureType } from '../protocol/failure-types.js';
import type { ExecutableCall } from './loop-effects.js';
import { abortedBeforeExecutionText, errorResult } from './tool-call-texts.js';

type FailedCall = Pick<ExecutableCall, 'call' | 'args' | 'spec'>;

/** @throws whatever is no failure of an activity: a bug of ours. */
export function toolFailureResult(
  error: unknown,
  failed: FailedCall,
  isAborted: boolean,
): ToolResult {
  if (error instanceof CancelledFailure) return errorResult(abortedBeforeExecutionText);
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof CancelledFailure) {
    // A tool that was running answers with its own result; this one was cancelled before it began.
    return errorResult(abortedBeforeExecutionText);
  }
  if (cause instanceof ApplicationFailure && !isInterruption(cause)) {
    return errorResult(`The tool ${failed.call.name} could not be run: ${cause.message}`);
  }
  if (isAborted)
    return errorResult('Aborted; its worker was lost, so the tool may still be running.');
  const why =
    cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_CLOSE'
      ? 'no worker finished it in time'
      : 'the worker that ran it was lost';
  return errorResult(
    `The outcome of this call is unknown: ${why}. It was not run again. ` +
      `Attempted: ${failed.call.name} ${toCanonicalJson(failed.args).slice(0, 500)}. ` +
      'Check what it has done before you repeat it.',
  );
}

function isInterruption(failure: ApplicationFailure): boolean {
  return failure.type === FailureType.WorkerShuttingDown;
}
