// Approvals: tool calls that wait for a person's word. They wait in the workflow, before any activity is
// scheduled, so a wait costs nothing and survives everything.

import { toCanonicalJson } from '../protocol/json.js';
import type { JsonObject } from '../protocol/json.js';
import type { AgentState } from '../protocol/session.js';
import type { ApprovalOutcome } from './loop-effects.js';

interface PendingApproval {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: JsonObject;
  readonly settle: (outcome: ApprovalOutcome) => void;
}

export interface ApprovalAnswer {
  readonly approved: boolean;
  /** Absent: the only pending one. */
  readonly toolCallId?: string;
  readonly reason?: string;
}

export class Approvals {
  readonly #pending = new Map<string, PendingApproval>();

  get size(): number {
    return this.#pending.size;
  }

  has(toolCallId: string): boolean {
    return this.#pending.has(toolCallId);
  }

  ask(call: Omit<PendingApproval, 'settle'>): Promise<ApprovalOutcome> {
    return new Promise((resolve) => {
      this.#pending.set(call.toolCallId, { ...call, settle: resolve });
    });
  }

  /** The call that was answered, or why none was. */
  answer({
    approved,
    toolCallId,
    reason,
  }: ApprovalAnswer):
    | { readonly toolCallId: string; readonly toolName: string }
    | { readonly problem: string } {
    if (this.#pending.size === 0) return { problem: 'No approval is pending.' };
    const waiting = [...this.#pending.keys()].join(', ');
    if (toolCallId === undefined && this.#pending.size > 1) {
      return { problem: `Several approvals are pending; name one by toolCallId: ${waiting}.` };
    }
    const pending =
      toolCallId === undefined ? [...this.#pending.values()][0] : this.#pending.get(toolCallId);
    if (pending === undefined) {
      return { problem: `No approval is pending for ${toolCallId}; pending: ${waiting}.` };
    }
    this.#pending.delete(pending.toolCallId);
    pending.settle(
      approved
        ? { kind: 'approved' }
        : { kind: 'denied', ...(reason === undefined ? {} : { reason }) },
    );
    return { toolCallId: pending.toolCallId, toolName: pending.toolName };
  }

  /** An abort answers all that are pending. */
  abort(): void {
    for (const pending of this.#pending.values()) pending.settle({ kind: 'aborted' });
    this.#pending.clear();
  }

  summaries(): AgentState['pendingApprovals'] {
    return [...this.#pending.values()].slice(0, 20).map(({ toolCallId, toolName, args }) => ({
      toolCallId,
      toolName,
      args: toCanonicalJson(args).slice(0, 2_000),
    }));
  }
}
