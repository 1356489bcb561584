// Queues of messages that wait to be delivered: steering and follow-ups. Plain state that can be carried
// into a new Workflow Run; what takes a message off a queue appends it in the same Workflow Task.

import { jsonSize } from '../protocol/json.js';
import { textOf } from '../protocol/messages.js';
import type { InputMessage } from '../protocol/messages.js';
import type { QueuedMessageSummary, QueueMode } from '../protocol/session.js';

export interface QueuedMessage {
  readonly kind: 'steer' | 'followUp' | 'prompt';
  /** As the signal that brought it carried it. */
  readonly id?: string;
  readonly message: InputMessage;
}

export interface MessageQueue {
  readonly mode: QueueMode;
  /** The oldest first. */
  readonly entries: QueuedMessage[];
}

export function createQueue(
  mode: QueueMode = 'one-at-a-time',
  entries: readonly QueuedMessage[] = [],
): MessageQueue {
  return { mode, entries: [...entries] };
}

export function enqueue(queue: MessageQueue, entry: QueuedMessage): void {
  queue.entries.push(entry);
}

/** Takes what one poll delivers off the queue: the oldest message, or all. */
export function takeBatch(queue: MessageQueue): readonly InputMessage[] {
  const batch = queue.entries.splice(0, queue.mode === 'all' ? queue.entries.length : 1);
  return batch.map(({ message }) => message);
}

const previewLength = 200;

/** The first 200 characters of the message's text. */
export function previewOf(message: InputMessage): string {
  const text = textOf(message.content);
  // Twice as many UTF-16 units hold at least so many characters; a long text is not taken apart whole.
  return Array.from(text.slice(0, 2 * previewLength))
    .slice(0, previewLength)
    .join('');
}

export function summaryOf({ kind, id, message }: QueuedMessage): QueuedMessageSummary {
  const { content } = message;
  const images =
    typeof content === 'string' ? 0 : content.filter(({ type }) => type === 'image').length;
  return {
    kind,
    ...(id !== undefined && { id }),
    preview: previewOf(message),
    ...(images > 0 && { images }),
  };
}

/** Summaries of the oldest entries, as many as fit in `maxBytes` of JSON. */
export function summariesOf(
  entries: readonly QueuedMessage[],
  maxBytes: number,
): readonly QueuedMessageSummary[] {
  const summaries: QueuedMessageSummary[] = [];
  let bytes = 2;
  for (const entry of entries) {
    const summary = summaryOf(entry);
    bytes += jsonSize(summary) + 1;
    if (bytes > maxBytes) break;
    summaries.push(summary);
  }
  return summaries;
}
