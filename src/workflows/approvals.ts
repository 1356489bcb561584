// Approvals: tool calls that wait for a person's word. They wait in the workflow, before any activity is
// scheduled, so a wait costs nothing and survives everything.

import { toCanonicalJson } from '../protocol/json.js';
import type { JsonObject } from '../protocol/json.js';
import type { AgentState } from '../protocol/session.js';
import { excerpt } from '../protocol/text.js';
import { fitting } from './fitting.js';
import { cutEscaped } from './json-slice.js';
import type { ApprovalOutcome } from './loop-effects.js';

const maxListed = 100;
const maxNamed = 10;
const maxNameBytes = 1_000;
const maxArgsBytes = 2_000;

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
    const waiting = namesOf([...this.#pending.keys()]);
    if (toolCallId === undefined && this.#pending.size > 1) {
      return { problem: `Several approvals are pending; name one by toolCallId: ${waiting}.` };
    }
    const pending =
      toolCallId === undefined ? [...this.#pending.values()][0] : this.#pending.get(toolCallId);
    if (pending === undefined) {
      return {
        problem: `No approval is pending for ${excerpt(toolCallId ?? '', 100)}; pending: ${waiting}.`,
      };
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

  /** The oldest, as many as fit in `maxBytes` of JSON; at least one, as its parts are cut. */
  summaries(maxBytes: number): AgentState['pendingApprovals'] {
    const summaries = [...this.#pending.values()].slice(0, maxListed).map((pending) => ({
      toolCallId: cutEscaped(pending.toolCallId, maxNameBytes),
      toolName: cutEscaped(pending.toolName, maxNameBytes),
      args: cutEscaped(toCanonicalJson(pending.args), maxArgsBytes),
    }));
    return fitting(summaries, maxBytes);
  }
}

function namesOf(toolCallIds: readonly string[]): string {
  const named = toolCallIds.slice(0, maxNamed).map((id) => excerpt(id, 100));
  const more = toolCallIds.length - named.length;
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
