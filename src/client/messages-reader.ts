// Reads the transcript page by page. A message too large for a page comes in slices of its JSON text,
// which are put together here.

import type { Message } from '../protocol/messages.js';
import type { MessagesPage, MessagesQuery } from '../protocol/session.js';

export type QueryMessages = (query: MessagesQuery) => Promise<MessagesPage>;

/** The transcript from `from` on, `to` excluded, as it is when the last page is read. */
export async function* readMessages(
  query: QueryMessages,
  {
    from = 0,
    to = Number.POSITIVE_INFINITY,
  }: { readonly from?: number; readonly to?: number } = {},
): AsyncGenerator<Message, void, undefined> {
  let next: MessagesQuery | undefined = { from };
  let index = from;
  let sliced = '';
  while (next !== undefined && index < to) {
    const asked: MessagesQuery =
      to === Number.POSITIVE_INFINITY ? next : { ...next, limit: to - index };
    const page: MessagesPage = await query(asked);
    for (const message of page.messages) {
      if (index >= to) return;
      yield message;
      index += 1;
    }
    if (page.slice !== undefined) {
      sliced += page.slice.text;
      const ended = page.next === undefined || page.next.from !== page.slice.index;
      if (ended) {
        yield JSON.parse(sliced) as Message;
        sliced = '';
        index += 1;
      }
    }
    next = page.next;
  }
}
