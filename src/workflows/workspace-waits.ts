// Waiting for a worker of a named workspace, by a probe: an activity that does nothing on the workspace's
// task queue. It may wait there as long as it takes, as nobody minds when it is done twice or too late.

import { isCancellation } from '@temporalio/workflow';
import { workspaceWaits } from '../protocol/limits.js';
import type { ToolCall } from '../protocol/messages.js';
import { lapseOf, workspaceReacher } from './activity-calls.js';
import type { AgentSession } from './agent-session.js';

export type WorkspaceWait =
  | { readonly kind: 'served'; readonly leftMs: number }
  | { readonly kind: 'over' };

export interface WorkspaceWaits {
  /**
   * Waits until a worker takes the probe, at most `leftMs`; meanwhile `state` shows the call as waiting.
   * @throws the cancellation, at once, when the run is aborted
   */
  untilServed(call: ToolCall, leftMs: number, waitMs: number): Promise<WorkspaceWait>;
}

export function createWorkspaceWaits(session: AgentSession, taskQueue: string): WorkspaceWaits {
  const { workspace } = session.input;
  let waiting = 0;
  let probe: Promise<boolean> | undefined;

  async function startProbe(leftMs: number): Promise<boolean> {
    try {
      const place = { ...session.nextActivity(), taskQueue, scheduleToStartTimeout: leftMs };
      await workspaceReacher(workspace, place).reachWorkspace();
      return true;
    } catch (error) {
      if (isCancellation(error)) throw error;
      // Whatever else became of it: a worker took it.
      return lapseOf(error) === undefined;
    } finally {
      probe = undefined;
    }
  }

  async function wait(leftMs: number): Promise<WorkspaceWait> {
    const until = Date.now() + leftMs;
    for (let left = leftMs; left >= workspaceWaits.leastWaitMs; left = until - Date.now()) {
      probe ??= startProbe(left);
      if (await probe) return { kind: 'served', leftMs: until - Date.now() };
    }
    return { kind: 'over' };
  }

  return {
    async untilServed(call, leftMs, waitMs) {
      if (leftMs < workspaceWaits.leastWaitMs) return { kind: 'over' };
      session.setToolCallStatus(call, 'waiting_for_workspace');
      waiting += 1;
      if (waiting === 1) session.emit({ type: 'workspace_wait_start', workspace, waitMs });
      let reached = false;
      try {
        const outcome = await wait(leftMs);
        reached = outcome.kind === 'served';
        return outcome;
      } finally {
        session.setToolCallStatus(call, 'running');
        waiting -= 1;
        if (waiting === 0) session.emit({ type: 'workspace_wait_end', workspace, reached });
      }
    },
  };
}
