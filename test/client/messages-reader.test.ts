import { describe, expect, test } from 'vitest';
import { readMessages } from '../../src/client/messages-reader.js';
import type { Message } from '../../src/protocol/messages.js';
import type { MessagesPage, MessagesQuery } from '../../src/protocol/session.js';

const messages: Message[] = ['a', 'b'.repeat(25), 'c', 'd', 'e'.repeat(40)].map(
  (content, timestamp) => ({ role: 'user', content, timestamp }),
);

/** Answers two messages a page; a message of more than 60 characters comes in slices of 30. */
function answer({ from = 0, limit = 2, offset }: MessagesQuery): MessagesPage {
  const length = messages.length;
  const text = JSON.stringify(messages[from] ?? null);
  if (text.length > 60) {
    const start = offset ?? 0;
    const isLast = start + 30 >= text.length;
    const following = from + 1 < length ? { next: { from: from + 1 } } : {};
    const next = isLast ? following : { next: { from, offset: start + 30 } };
    const slice = { index: from, offset: start, text: text.slice(start, start + 30) };
    return { messages: [], slice, length, ...next };
  }
  const page: Message[] = [];
  for (const message of messages.slice(from, from + Math.min(limit, 2))) {
    if (JSON.stringify(message).length > 60) break;
    page.push(message);
  }
  const end = from + page.length;
  return { messages: page, length, ...(end < length ? { next: { from: end } } : {}) };
}

async function read(options?: { from?: number; to?: number }) {
  const asked: MessagesQuery[] = [];
  const found: Message[] = [];
  const query = async (page: MessagesQuery) => {
    asked.push(page);
    return answer(page);
  };
  for await (const message of readMessages(query, options)) found.push(message);
  return { found, asked };
}

describe('readMessages', () => {
  test('reads all pages and puts slices together', async () => {
    expect((await read()).found).toEqual(messages);
  });

  test('starts at any message and stops before another', async () => {
    expect((await read({ from: 3 })).found).toEqual(messages.slice(3));
    expect((await read({ from: 1, to: 3 })).found).toEqual(messages.slice(1, 3));
    expect((await read({ from: 4, to: 5 })).found).toEqual(messages.slice(4, 5));
  });

  test('asks for nothing past the end it was given', async () => {
    expect((await read({ from: 2, to: 3 })).asked).toEqual([{ from: 2, limit: 1 }]);
  });

  test('an empty transcript has no messages', async () => {
    const none = async (): Promise<MessagesPage> => ({ messages: [], length: 0 });
    const found = [];
    for await (const message of readMessages(none)) found.push(message);
    expect(found).toEqual([]);
  });
});
