// Reads queries to their end as their readers do, and checks of every page that it fits and goes on.

import { expect } from 'vitest';
import type { LoggedEvent, ReportedEvent } from '../../src/protocol/events.js';
import type { JsonValue } from '../../src/protocol/json.js';
import type { Message } from '../../src/protocol/messages.js';
import type { ContextQuery, MessagesQuery } from '../../src/protocol/session.js';
import type { EventLog } from '../../src/workflows/event-log.js';
import type { Transcript } from '../../src/workflows/transcript.js';
import type { ValueStore } from '../../src/workflows/value-store.js';

/** Bytes of the answer as a payload carries it. */
export function answerBytes(answer: unknown): number {
  return Buffer.byteLength(JSON.stringify(answer), 'utf8');
}

export function expectFits(answer: unknown): void {
  expect(answerBytes(answer)).toBeLessThanOrEqual(200_000);
}

/** What reaches the other side. */
function received<T>(answer: T): T {
  return JSON.parse(Buffer.from(JSON.stringify(answer), 'utf8').toString('utf8')) as T;
}

export function readTranscript(
  transcript: Transcript,
  query: MessagesQuery = {},
): { readonly messages: readonly Message[]; readonly pages: number } {
  const messages: Message[] = [];
  let slices = '';
  let pages = 0;
  for (let next: MessagesQuery | undefined = query; next !== undefined;) {
    const answer = transcript.page(next);
    expectFits(answer);
    const page = received(answer);
    pages += 1;
    messages.push(...page.messages);
    if (page.slice !== undefined) {
      slices += page.slice.text;
      if (page.next?.from !== page.slice.index) {
        messages.push(JSON.parse(slices) as Message);
        slices = '';
      }
    }
    expectGoesOn(position(next), page.next === undefined ? undefined : position(page.next));
    next = page.next === undefined ? undefined : { ...query, ...page.next };
  }
  return { messages, pages };
}

const position = ({ from = 0, offset = 0 }: MessagesQuery) => from * 1e9 + offset;

function expectGoesOn(before: number, after = Infinity): void {
  expect(after).toBeGreaterThan(before);
}

export function readValue(store: ValueStore, digest: string): JsonValue {
  let text = '';
  for (let next: ContextQuery | undefined = { digest }; next !== undefined;) {
    const answer = store.page(next);
    expectFits(answer);
    const page = received(answer);
    text += page.text;
    expectGoesOn(next.offset ?? 0, page.next?.offset);
    next = page.next;
  }
  return JSON.parse(text) as JsonValue;
}

export function readEvents(
  log: EventLog,
  transcript: Transcript,
  limit?: number,
): readonly ReportedEvent[] {
  const events: (ReportedEvent & LoggedEvent)[] = [];
  for (let after = 0; ;) {
    const answer = log.page({ after, ...(limit === undefined ? {} : { limit }) }, transcript, true);
    expectFits(answer);
    const page = received(answer);
    if (page.events.length === 0) return events;
    events.push(...page.events);
    expectGoesOn(after, page.next);
    after = page.next;
  }
}
