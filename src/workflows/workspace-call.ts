// Tool calls on the task queue of the session's workspace.
//
// On the main queue a call simply waits for a worker. A named workspace may have none for good, and a
// workflow cannot see whether an activity was taken. So a call on it is offered for a short window only; when
// that lapses, the session says that it waits, and a probe waits in the call's place (workspace-waits.ts).
// Once a worker took the probe, the call is offered again in a longer window. A call whose offer lapsed was
// not begun, so that nothing runs twice however often it is offered.

import { CancelledFailure, isCancellation } from '@temporalio/workflow';
import type { TimeoutFailure } from '@temporalio/workflow';
import type { CallToolInput, ToolResult } from '../protocol/activities.js';
import { toMilliseconds } from '../protocol/duration.js';
import { timeouts, workspaceWaits } from '../protocol/limits.js';
import { defaultWorkspaceName } from '../protocol/session.js';
import { isRetryable, lapseOf, toolCaller } from './activity-calls.js';
import type { AgentSession } from './agent-session.js';
import type { ExecutableCall } from './loop-effects.js';
import { workspaceQueueOf } from './session-state.js';
import {
  abortedAfterLostAttemptText,
  errorResult,
  lostWithWorkspaceText,
  workspaceNotServedText,
} from './tool-call-texts.js';
import { createWorkspaceWaits } from './workspace-waits.js';

/** Rejects as the call's activity does; that no worker of the workspace came is a result. */
export type WorkspaceCaller = (call: ExecutableCall, input: CallToolInput) => Promise<ToolResult>;

/** One per run: calls that wait at the same time share a probe. Calls belong into the run's scope. */
export function createWorkspaceCaller(
  session: AgentSession,
  isAborted: () => boolean,
): WorkspaceCaller {
  const { workspace } = session.input;
  if (workspace === defaultWorkspaceName) {
    return ({ spec, args }, input) =>
      toolCaller(spec, args, session.nextActivity()).callTool(input);
  }
  const taskQueue = workspaceQueueOf(session);
  const waits = createWorkspaceWaits(session, taskQueue);

  return async ({ call, spec, args }, input) => {
    const waitMs = session.resolved().workspaceWaitMs ?? workspaceWaits.waitMs;
    const lastOfferAt = Date.now() + toMilliseconds(timeouts.retryHorizon);
    const { firstWindowMs, windowGrowth } = workspaceWaits;
    let leftMs = waitMs;
    /** An attempt of a call that may run again was lost with its worker. */
    let wasBegun = false;
    try {
      for (let offers = 0; ; offers++) {
        const longestMs = Math.min(waitMs, Math.max(leftMs, firstWindowMs));
        const windowMs = Math.min(firstWindowMs * windowGrowth ** offers, longestMs);
        try {
          const place = session.nextActivity();
          const offer = { ...place, taskQueue, scheduleToStartTimeout: windowMs };
          return await toolCaller(spec, args, offer).callTool(input);
        } catch (error) {
          const lapse = lapseOf(error);
          if (lapse === undefined) throw error;
          if (showsAnAttempt(lapse)) {
            if (!isRetryable(spec) || Date.now() > lastOfferAt) throw error;
            wasBegun = true;
            leftMs = waitMs;
          }
        }
        if (isAborted()) throw new CancelledFailure('The run was aborted.');
        const wait = await waits.untilServed(call, leftMs - windowMs, waitMs);
        if (wait.kind === 'over') {
          const text = wasBegun ? lostWithWorkspaceText : workspaceNotServedText;
          return errorResult(text(workspace, waitMs));
        }
        leftMs = wait.leftMs;
      }
    } catch (error) {
      if (!wasBegun || !isCancellation(error)) throw error;
      return errorResult(abortedAfterLostAttemptText);
    }
  };
}

/**
 * An offer can also lapse for a second attempt, after a first that did begin: of a call that may run again,
 * and of any call that an operator paused. Then the failure carries what the first left: its own failure, or
 * a heartbeat, without which no pause reaches an activity.
 */
function showsAnAttempt({ lastHeartbeatDetails, failure }: TimeoutFailure): boolean {
  return lastHeartbeatDetails !== undefined || failure?.cause != null;
}
