// Invariant of what people send: each message is in the transcript once, or queued, or rejected, or
// reported as undelivered.

import { textOf } from '../protocol/messages.js';
import type { InputMessage, Message } from '../protocol/messages.js';
import type { QueuedMessageSummary } from '../protocol/session.js';
import type { SentInput, SessionRecord } from './session-record.js';

export function inputViolations({
  events,
  messages,
  carried = 0,
  inputs,
  queued = [],
}: SessionRecord): readonly string[] {
  if (inputs === undefined) return [];
  const sent = distinctById(inputs);
  const rejectedIds = new Set(
    events.flatMap((event) => (event.type === 'rejected' && event.id ? [event.id] : [])),
  );
  // The last report of what is undelivered repeats what is still queued.
  const reports = events.flatMap((event) =>
    'undelivered' in event && event.undelivered !== undefined ? [event.undelivered] : [],
  );
  const counts = {
    sent: countKeys(sent.map(({ message }) => keyOfInput(message))),
    rejected: countKeys(
      sent
        .filter(({ id }) => id !== undefined && rejectedIds.has(id))
        .map(({ message }) => keyOfInput(message)),
    ),
    transcript: countKeys(messages.slice(carried).flatMap((message) => keysOfMessage(message))),
    queued: countKeys(queued.map((summary) => keyOfSummary(summary))),
    undelivered: countKeys((reports.at(-1) ?? []).map((summary) => keyOfSummary(summary))),
  };
  return [...counts.sent].flatMap(([key, times]) => {
    const delivered = counts.transcript.get(key) ?? 0;
    const waiting = Math.max(counts.queued.get(key) ?? 0, counts.undelivered.get(key) ?? 0);
    const rejected = counts.rejected.get(key) ?? 0;
    if (delivered + waiting + rejected === times) return [];
    return [
      `${key} was sent ${times} times, but is ${delivered} times in the transcript, ` +
        `${waiting} times waiting or undelivered and ${rejected} times rejected`,
    ];
  });
}

function distinctById(inputs: readonly SentInput[]): readonly SentInput[] {
  const seen = new Set<string>();
  return inputs.filter(({ id }) => {
    if (id === undefined) return true;
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

function keyOfInput(message: string | InputMessage): string {
  if (typeof message === 'string') return keyOf(message, 0);
  const { content } = message;
  const images =
    typeof content === 'string' ? 0 : content.filter(({ type }) => type === 'image').length;
  return keyOf(textOf(content), images);
}

function keysOfMessage(message: Message): readonly string[] {
  return message.role === 'user' || message.role === 'custom' ? [keyOfInput(message)] : [];
}

function keyOfSummary({ preview, images = 0 }: QueuedMessageSummary): string {
  return keyOf(preview, images);
}

/** What a summary still tells of a message: the start of its text and how many images it has. */
function keyOf(text: string, images: number): string {
  const preview = Array.from(text).slice(0, 200).join('');
  return images === 0 ? JSON.stringify(preview) : `${JSON.stringify(preview)} (${images} images)`;
}

function countKeys(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
