// The event log: what happened, in order, for followers. It keeps indices, not contents; the query fills
// in from the transcript what fits a page.

import type {
  AgentEvent,
  EventsPage,
  EventsQuery,
  LoggedEvent,
  ReportedEvent,
} from '../protocol/events.js';
import type { ToolResult } from '../protocol/activities.js';
import { jsonSize } from '../protocol/json.js';
import type { JsonObject } from '../protocol/json.js';
import { payloadLimits, queueLimits } from '../protocol/limits.js';
import { toolCallsOf } from '../protocol/messages.js';
import type { ToolResultMessage } from '../protocol/messages.js';
import { fitting } from './fitting.js';
import { cutEscaped } from './json-slice.js';
import type { Transcript } from './transcript.js';

/** What an event takes beside the content that the query adds: seldom more than a few hundred bytes. */
const maxEventBytes = 64_000;
/** A text in an event that is larger. */
const maxFieldBytes = 2_000;

export class EventLog {
  #events: LoggedEvent[] = [];
  #last = 0;
  /** Results of the present batch that are not in the transcript yet. */
  readonly #results = new Map<string, ToolResult>();

  emit(event: AgentEvent, at: number): void {
    this.#last += 1;
    this.#events.push({ ...event, seq: this.#last, at });
    // Trimmed in steps, so that a full log does not move on every event.
    if (this.#events.length > queueLimits.keptEvents * 1.25) {
      this.#events = this.#events.slice(-queueLimits.keptEvents);
    }
  }

  /** A result before its message stands in the transcript, for `tool_execution_end`. */
  holdResult(toolCallId: string, result: ToolResult): void {
    this.#results.set(toolCallId, result);
  }

  forgetResults(): void {
    this.#results.clear();
  }

  page(
    { after = 0, limit = Infinity }: EventsQuery,
    transcript: Transcript,
    open: boolean,
  ): EventsPage {
    const first = this.#events[0]?.seq ?? this.#last + 1;
    const start = Math.max(0, after + 1 - first);
    const events: ReportedEvent[] = [];
    let bytes = 256;
    for (let i = start; i < this.#events.length && events.length < limit; i++) {
      const event = this.#report(this.#events[i] as LoggedEvent, transcript);
      bytes += jsonSize(event) + 1;
      if (bytes > payloadLimits.maxPageBytes && events.length > 0) break;
      events.push(event);
    }
    const next = events.at(-1)?.seq ?? Math.min(after, this.#last);
    return { events, next, first, open: open || next < this.#last };
  }

  #report(event: LoggedEvent, transcript: Transcript): ReportedEvent {
    if (event.type === 'message_end') {
      return withContent(event, 'content', transcript.at(event.message));
    }
    const shown = shortened(event);
    if (event.type === 'tool_execution_start') {
      const message = transcript.at(event.message);
      const calls = message?.role === 'assistant' ? toolCallsOf(message) : [];
      const call = calls.find(({ id }) => id === event.toolCallId);
      return withContent(shown, 'args', call?.arguments);
    }
    if (event.type === 'tool_execution_end') {
      return withContent(shown, 'result', this.#resultOf(event.toolCallId, transcript));
    }
    return shown;
  }

  #resultOf(toolCallId: string, transcript: Transcript): JsonObject | undefined {
    const held = this.#results.get(toolCallId);
    if (held !== undefined) return held as unknown as JsonObject;
    for (let i = transcript.length - 1; i >= 0; i--) {
      const message = transcript.at(i);
      if (message?.role === 'toolResult' && message.toolCallId === toolCallId) {
        return resultFields(message);
      }
    }
    return undefined;
  }
}

function resultFields(message: ToolResultMessage): JsonObject {
  const { content, details, isError, durationMs, usage } = message;
  return { content, details, isError, durationMs, usage } as unknown as JsonObject;
}

/** An event that would not fit beside others: long texts are cut, and long lists. */
function shortened(event: LoggedEvent): ReportedEvent {
  if (jsonSize(event) <= maxEventBytes) return event;
  const fields = Object.entries(event).map(([field, value]: [string, unknown]) => {
    if (typeof value === 'string') return [field, cutEscaped(value, maxFieldBytes)];
    return [field, Array.isArray(value) ? fitting(value, maxEventBytes / 2) : value];
  });
  return { ...(Object.fromEntries(fields) as LoggedEvent), omitted: true };
}

function withContent(
  event: ReportedEvent,
  field: 'content' | 'args' | 'result',
  value: unknown,
): ReportedEvent {
  if (value === undefined) return event;
  if (jsonSize(value) > payloadLimits.maxEventContentBytes) return { ...event, omitted: true };
  return { ...event, [field]: value } as ReportedEvent;
}
