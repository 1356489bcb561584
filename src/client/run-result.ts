// How a workflow ended, for callers: its result, or an AgentRunError that says why there is none.

import { WorkflowFailedError } from '@temporalio/client';
import {
  ApplicationFailure,
  CancelledFailure,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/common';
import { FailureType } from '../protocol/failure-types.js';
import { AgentRunError, reasonOf } from './errors.js';
import type { AgentRunFailure } from './errors.js';

const kinds: { readonly [type: string]: AgentRunFailure } = {
  [FailureType.InvalidInput]: 'input',
  [FailureType.ModelError]: 'model',
  [FailureType.HookError]: 'hook',
};

/** What to throw for an error of `WorkflowHandle.result()`; other errors as they are. */
export function toAgentRunError(error: unknown, workflowId: string): unknown {
  if (!(error instanceof WorkflowFailedError)) return error;
  const { cause } = error;
  const options = { cause: error };
  if (cause instanceof CancelledFailure) {
    return new AgentRunError('canceled', `'${workflowId}' was cancelled.`, undefined, options);
  }
  if (cause instanceof TerminatedFailure) {
    const reason = cause.message ? `: ${cause.message}` : '';
    const message = `'${workflowId}' was terminated${reason}.`;
    return new AgentRunError('terminated', message, undefined, options);
  }
  if (cause instanceof TimeoutFailure) {
    return new AgentRunError('timedOut', `'${workflowId}' timed out.`, undefined, options);
  }
  const type = cause instanceof ApplicationFailure ? (cause.type ?? undefined) : undefined;
  const kind = (type === undefined ? undefined : kinds[type]) ?? 'failed';
  return new AgentRunError(kind, reasonOf(cause ?? error), type, options);
}
