// A session that is open for prompts: idle, in a run, idle again, until something ends it.

import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import type { AgentSession } from './agent-session.js';
import { exhaustedHistory } from './exhausted-history.js';
import { runAgent } from './run-agent.js';

/** `limit`: the history nears what the server allows. */
export type ServingEnd = 'closed' | 'idle' | 'limit' | 'cancelled';

/** Runs what signals start, until `close`, cancellation, the idle time-out or the end of the history. */
export async function serveSession(
  session: AgentSession,
  idleTimeoutMs: number | undefined,
): Promise<ServingEnd> {
  const scope = CancellationScope.current();
  while (!scope.consideredCancelled) {
    const start = session.pendingStart;
    if (start !== undefined) {
      session.pendingStart = undefined;
      const outcome = await runAgent(session, start);
      session.lastError = outcome.kind === 'failed' ? outcome.errorMessage : undefined;
      if (outcome.kind === 'limit' && exhaustedHistory()?.limit === outcome.limit) return 'limit';
    } else if (session.closing) {
      return 'closed';
    } else if (!(await isWoken(session, idleTimeoutMs))) {
      return scope.consideredCancelled ? 'cancelled' : 'idle';
    } else if (session.pendingStart === undefined && !session.closing) {
      const exhausted = exhaustedHistory();
      if (exhausted !== undefined) session.emit({ type: 'limit_reached', ...exhausted });
      return 'limit';
    }
  }
  return 'cancelled';
}

/** Waits while idle. False: the idle time-out passed, or the scope was cancelled. */
async function isWoken(session: AgentSession, idleTimeoutMs: number | undefined): Promise<boolean> {
  const isWanted = () =>
    session.pendingStart !== undefined || session.closing || exhaustedHistory() !== undefined;
  try {
    if (idleTimeoutMs !== undefined) return await condition(isWanted, idleTimeoutMs);
    await condition(isWanted);
    return true;
  } catch (error) {
    if (isCancellation(error)) return false;
    throw error;
  }
}
