// What the loop reports. Logged events have a sequence number and name messages by their index in the
// transcript; the `events` query adds content where it fits a page.

import type { JsonObject } from './json.js';
import type { Message, StopReason } from './messages.js';
import type { Addressed, MessageRange, QueuedMessageSummary } from './session.js';

/** Signals and the kinds of the update `submit`. */
export const signalKinds = [
  'steer',
  'followUp',
  'prompt',
  'continue',
  'abort',
  'approve',
  'deny',
  'close',
] as const;
export type SignalKind = (typeof signalKinds)[number];

/** An event as the loop emits it. `message` is an index into the transcript. */
export type AgentEvent =
  | { readonly type: 'agent_start' }
  | {
      readonly type: 'agent_end';
      /** Exactly the messages this run added. */
      readonly messages: MessageRange;
      readonly stopReason: StopReason | 'limit';
      readonly errorMessage?: string;
      /** Why it was aborted, where the signal said so. */
      readonly reason?: string;
      /** Lifetime `run`, or a session that closes: what will not be delivered. */
      readonly undelivered?: readonly QueuedMessageSummary[];
    }
  | { readonly type: 'turn_start'; readonly turn: number }
  | {
      readonly type: 'turn_end';
      readonly turn: number;
      /** Absent when an abort left the turn without a model message. */
      readonly message?: number;
      readonly toolResults: readonly number[];
    }
  | { readonly type: 'message_start'; readonly message: number }
  | { readonly type: 'message_end'; readonly message: number }
  | {
      readonly type: 'tool_execution_start';
      readonly toolCallId: string;
      readonly toolName: string;
      /** The assistant message whose call it is; the query adds its arguments as `args`. */
      readonly message: number;
    }
  | {
      readonly type: 'tool_execution_end';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly isError: boolean;
    }
  | {
      readonly type: 'queued';
      readonly kind: 'steer' | 'followUp' | 'prompt';
      readonly id?: string;
      readonly preview: string;
    }
  | {
      readonly type: 'rejected';
      /** The handler that was called. */
      readonly kind: SignalKind;
      readonly id?: string;
      readonly reason: string;
    }
  | { readonly type: 'approval_requested'; readonly toolCallId: string; readonly toolName: string }
  | {
      readonly type: 'approval_resolved';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  /** Calls of the batch wait for a worker of the session's workspace: none took them so far. */
  | {
      readonly type: 'workspace_wait_start';
      readonly workspace: string;
      /** The longest a call waits. */
      readonly waitMs: number;
    }
  /** None of them waits any more. */
  | {
      readonly type: 'workspace_wait_end';
      readonly workspace: string;
      /** A worker was there. False: the time was over, or the run was aborted. */
      readonly reached: boolean;
    }
  | {
      readonly type: 'limit_reached';
      /** e.g. `maxTurns`, `maxTotalTokens`, `historyBytes`, `truncatedAnswers`. */
      readonly limit: string;
      readonly value: number;
    }
  | { readonly type: 'closed'; readonly undelivered: readonly QueuedMessageSummary[] };

/** An event as the log keeps it: `seq` rises by one, `at` is workflow time in ms. */
export type LoggedEvent = AgentEvent & { readonly seq: number; readonly at: number };

/** An event as the `events` query answers it, with content where it fits. */
export type ReportedEvent = LoggedEvent & {
  /** `message_end`: the message, unless it is larger than 32 KB. */
  readonly content?: Message;
  /** `tool_execution_start`: the arguments as the model sent them. */
  readonly args?: JsonObject;
  /** `tool_execution_end`: the result as the model will see it. */
  readonly result?: JsonObject;
  /** Content was left out for its size: read it with the `messages` query. */
  readonly omitted?: true;
};

/** Argument of the `events` query. */
export interface EventsQuery extends Addressed {
  /** Answers events with a higher `seq`. Default 0: from the first. */
  readonly after?: number;
  readonly limit?: number;
}

export interface EventsPage {
  readonly events: readonly ReportedEvent[];
  /** The next `after`. */
  readonly next: number;
  /** The oldest `seq` still kept; greater than `after + 1` tells a late reader what it lost. */
  readonly first: number;
  /** Whether events may still come. */
  readonly open: boolean;
  /** Whose events they are, in a workflow of one's own. */
  readonly agent?: string;
}
