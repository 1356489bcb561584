// One agent run of a session, in a scope of its own whose cancellation is the abort.

import { ApplicationFailure, CancellationScope } from '@temporalio/workflow';
import { FailureType } from '../protocol/failure-types.js';
import type { AgentRunResult } from '../protocol/session.js';
import { wellFormed } from '../protocol/text.js';
import type { AgentSession } from './agent-session.js';
import { runAgentLoop } from './loop.js';
import type { RunOutcome, RunStart } from './loop-effects.js';
import { createRunEffects } from './run-effects.js';

/** The start stands in the transcript before the first await. */
export async function runAgent(session: AgentSession, start: RunStart): Promise<RunOutcome> {
  const { input } = session;
  const scope = new CancellationScope();
  session.beginRun(scope);
  try {
    return await scope.run(() =>
      runAgentLoop(
        start,
        { toolExecution: input.toolExecution, limits: input.limits },
        createRunEffects(session, scope),
      ),
    );
  } finally {
    session.endRun();
  }
}

/** What a run that failed is thrown as. */
export function runFailure({
  cause,
  errorMessage,
}: Extract<RunOutcome, { kind: 'failed' }>): ApplicationFailure {
  const type = {
    input: FailureType.InvalidInput,
    model: FailureType.ModelError,
    hook: FailureType.HookError,
  }[cause];
  return ApplicationFailure.nonRetryable(wellFormed(errorMessage), type);
}

/** How a run that did not fail ended. */
export function stopReasonOf(
  { transcript }: AgentSession,
  outcome: Exclude<RunOutcome, { kind: 'failed' }>,
): AgentRunResult['stopReason'] {
  if (outcome.kind !== 'finished') return outcome.kind;
  const answer = transcript.messages.findLast(({ role }) => role === 'assistant');
  return answer?.role === 'assistant' ? answer.stopReason : 'stop';
}
