// What a follower is told: the session's logged events, live views between them, and notices about the
// following itself. Logged events have a `seq`; the others have none and are never repeated.

import type { ReportedEvent } from '../protocol/events.js';

/** How a workflow closed. */
export type CloseStatus = 'completed' | 'failed' | 'canceled' | 'terminated' | 'timedOut';

/** A part of an assistant's message that has just become known. */
export interface MessageUpdate {
  readonly type: 'message_update';
  readonly activityId: string;
  readonly attempt: number;
  readonly turn: number;
  /** New text, to be put after what earlier updates of this attempt brought. */
  readonly text: string;
  /** New reasoning, likewise. */
  readonly thinking: string;
  /** The call began again: what earlier updates of this message brought is void. */
  readonly startsOver?: true;
  /** UTF-16 units of text that passed unseen before `text`. */
  readonly skipped?: number;
}

export interface ToolExecutionUpdate {
  readonly type: 'tool_execution_update';
  readonly activityId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly attempt: number;
  /** New output, to be put after what earlier updates of this attempt brought. */
  readonly partialResult: string;
  readonly startsOver?: true;
  /** UTF-16 units of output that passed unseen before `partialResult`. */
  readonly skipped?: number;
}

/** An activity failed and is tried again. */
export interface RetryNotice {
  readonly type: 'retry';
  readonly activityId: string;
  /** The attempt to come. */
  readonly attempt: number;
  readonly reason: string;
  /** Milliseconds to wait, from now. */
  readonly delayMs?: number;
}

export type LiveEvent = MessageUpdate | ToolExecutionUpdate | RetryNotice;

export type FollowerNotice =
  /** Nobody answers for now. The follower goes on by itself; the session is not over. */
  | { readonly type: 'unreachable'; readonly what: 'worker' | 'server'; readonly reason: string }
  | { readonly type: 'reachable' }
  /** Events `from` up to and with `to` are no longer kept. */
  | { readonly type: 'lost'; readonly from: number; readonly to: number }
  /** The last item. Not `complete`: the workflow is closed and no worker answered for its last events. */
  | { readonly type: 'ended'; readonly status: CloseStatus; readonly complete: boolean };

/** A logged event; an assistant's `message_end` also says what is left to show. */
export type FollowedLoggedEvent = ReportedEvent & {
  /**
   * An assistant's `message_end`: the text that no update has shown, all of it when there was none.
   * Whoever has written the updates writes this and has written the message once.
   */
  readonly unshown?: string;
  /** The updates belong to an attempt that came to nothing: `unshown` is the whole text. */
  readonly startsOver?: true;
};

export type FollowedEvent = FollowedLoggedEvent | LiveEvent | FollowerNotice;

export function isLoggedEvent(event: FollowedEvent): event is FollowedLoggedEvent {
  return 'seq' in event;
}
