// What the invariants are checked against: a session as its followers and readers see it.

import type { LoggedEvent } from '../protocol/events.js';
import type { InputMessage, Message } from '../protocol/messages.js';
import type { QueuedMessageSummary } from '../protocol/session.js';

/** A message that was sent to the session, by prompt, steer or follow-up. */
export interface SentInput {
  readonly id?: string;
  readonly message: string | InputMessage;
}

/** A session after its last run has ended. Fields left out leave their invariants unchecked. */
export interface SessionRecord {
  /** All events, from the first. */
  readonly events: readonly LoggedEvent[];
  /** The whole transcript. */
  readonly messages: readonly Message[];
  /** Messages that stood in the transcript before the first event. Default 0. */
  readonly carried?: number;
  /** What was sent; the same id twice counts once. */
  readonly inputs?: readonly SentInput[];
  /** What still waits in the queues. */
  readonly queued?: readonly QueuedMessageSummary[];
  /** Ids of tool calls whose tool was really executed. */
  readonly executed?: readonly string[];
  /**
   * For each abort of a run, the `seq` of the last event logged before it was asked for; 0 when none was.
   * An abort of an idle session does nothing and is left out.
   */
  readonly abortedAfter?: readonly number[];
  /** The events that a replay of the history gave. */
  readonly replayed?: readonly LoggedEvent[];
}
