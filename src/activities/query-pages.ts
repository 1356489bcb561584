// Reads what a workflow answers page by page: messages of its transcript, and values by digest. An answer
// that makes no sense is a workflow that could not be read this time.

import { ApplicationFailure } from '@temporalio/activity';
import { FailureType } from '../protocol/failure-types.js';
import type { Digest, JsonValue } from '../protocol/json.js';
import type { Message } from '../protocol/messages.js';
import type {
  ContextPage,
  ContextQuery,
  MessagesPage,
  MessagesQuery,
} from '../protocol/session.js';

/** The queries of the workflow an activity belongs to. They reject when it does not answer in time. */
export interface WorkflowQueries {
  messages(query: MessagesQuery, signal: AbortSignal): Promise<MessagesPage>;
  context(query: ContextQuery, signal: AbortSignal): Promise<ContextPage>;
  /** A name by which the cache knows the workflow again: its id. */
  readonly session?: string;
}

/** Messages `from` to `to` (exclusive) of the transcript of the workflow's agent. */
export async function* readMessages(
  {
    from,
    to,
    agent,
  }: { readonly agent?: string | undefined; readonly from: number; readonly to: number },
  queries: WorkflowQueries,
  signal: AbortSignal,
): AsyncGenerator<Message> {
  let next: MessagesQuery | undefined = { from };
  let index = from;
  let slices = '';
  while (index < to) {
    if (next === undefined) throw unavailable(`it ends before message ${index}`);
    const page: MessagesPage = await queries.messages(
      { ...next, limit: to - index, ...(agent === undefined ? {} : { agent }) },
      signal,
    );
    next = page.next;
    if (page.slice === undefined) {
      if (page.messages.length === 0) throw unavailable(`message ${index} is missing`);
      yield* page.messages.slice(0, to - index);
      index += page.messages.length;
      continue;
    }
    const { slice } = page;
    const continues = next?.from === index;
    if (slice.index !== index || slice.offset !== slices.length || (continues && slice.text === ''))
      throw unavailable(`a part of message ${index} is missing`);
    slices += slice.text;
    if (continues) continue;
    yield parseJson(slices) as Message;
    slices = '';
    index += 1;
  }
}

/** The value that the workflow keeps under a digest. Whether it is the right one is the caller's to check. */
export async function readValue(
  digest: Digest,
  queries: WorkflowQueries,
  signal: AbortSignal,
): Promise<JsonValue> {
  let text = '';
  for (let next: ContextQuery | undefined = { digest }; next !== undefined;) {
    const page: ContextPage = await queries.context(next, signal);
    text += page.text;
    next = page.next;
    if (next !== undefined && next.offset !== text.length) {
      throw unavailable(`a part of the value ${digest} is missing`);
    }
  }
  return parseJson(text) as JsonValue;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unavailable('its parts make no JSON');
  }
}

/** The workflow did not answer, or not with what it was asked. Another attempt may find it well. */
export function unavailable(why: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: FailureType.ConversationUnavailable,
    message: `The conversation could not be read from its workflow: ${why}.`,
    nonRetryable: false,
  });
}
