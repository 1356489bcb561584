// Gives an activity the conversation that its input refers to: from the worker's cache, and what that
// lacks from the workflow itself, by the `messages` and `context` queries, a page at a time.

import { ApplicationFailure } from '@temporalio/activity';
import type {
  ConversationReference,
  MessageReference,
  TranscriptReference,
} from '../protocol/activities.js';
import type { ToolSpec } from '../protocol/agent-definition.js';
import { FailureType } from '../protocol/failure-types.js';
import type { Digest, JsonValue } from '../protocol/json.js';
import type { InputMessage, Message, Untimed } from '../protocol/messages.js';
import type {
  ContextPage,
  ContextQuery,
  MessagesPage,
  MessagesQuery,
} from '../protocol/session.js';
import { withoutTimestamp } from '../protocol/transcript-digest.js';
import type { ContentCache } from './content-cache.js';
import type { Conversation, ConversationSource } from './conversation.js';
import { digestOf } from './digest.js';

/** The queries of the workflow an activity belongs to. They reject when it does not answer in time. */
export interface WorkflowQueries {
  messages(query: MessagesQuery, signal: AbortSignal): Promise<MessagesPage>;
  context(query: ContextQuery, signal: AbortSignal): Promise<ContextPage>;
}

export function createConversationSource(
  cache: ContentCache,
  queries: WorkflowQueries,
): ConversationSource {
  return {
    async load(reference, signal) {
      const [transcript, systemPrompt, tools, prepend] = await Promise.all([
        loadTranscript(reference.transcript, cache, queries, signal),
        valueOf(reference.systemPrompt, cache, queries, signal),
        valueOf(reference.tools, cache, queries, signal),
        valueOf(reference.prepend, cache, queries, signal),
      ]);
      return toConversation(reference, transcript, {
        systemPrompt: systemPrompt as string | undefined,
        tools: tools as unknown as readonly ToolSpec[],
        prepend: (prepend ?? []) as unknown as readonly InputMessage[],
      });
    },
    value: (digest, signal) => loadValue(digest, cache, queries, signal),
    remember(message) {
      cache.put(withoutTimestamp(message));
    },
    rememberValue(value) {
      cache.put(value as object);
    },
  };
}

function toConversation(
  reference: ConversationReference,
  transcript: readonly Message[],
  parts: {
    readonly systemPrompt: string | undefined;
    readonly tools: readonly ToolSpec[];
    readonly prepend: readonly InputMessage[];
  },
): Conversation {
  const kept = transcript.slice(reference.dropBefore ?? 0);
  const timestamp = kept[0]?.timestamp ?? 0;
  return {
    systemPrompt: parts.systemPrompt,
    tools: parts.tools,
    transcript,
    visible: [...parts.prepend.map((message) => ({ ...message, timestamp })), ...kept],
  };
}

async function loadTranscript(
  reference: TranscriptReference,
  cache: ContentCache,
  queries: WorkflowQueries,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  let digest = reference.base;
  for (const added of reference.added) digest = cache.link(digest, added);
  if (digest !== reference.digest) throw unavailable('its reference contradicts itself');

  const references = cache.chain(digest);
  if (references?.length !== reference.length) {
    return await fetchAll(reference, cache, queries, signal);
  }
  const messages = references.map(([key, timestamp]) => toMessage(cache.get(key), timestamp));
  for (let from = 0; from < messages.length; from++) {
    if (messages[from] !== undefined) continue;
    let to = from + 1;
    while (to < messages.length && messages[to] === undefined) to++;
    for await (const message of fetchRange(from, to, queries, signal)) {
      if (cache.put(withoutTimestamp(message)) !== references[from]?.[0]) {
        throw unavailable(`message ${from} is not the one its digest names`);
      }
      messages[from] = message;
      from += 1;
    }
  }
  return messages as Message[];
}

/** The whole transcript by query, when the cache does not know the order of its messages. */
async function fetchAll(
  reference: TranscriptReference,
  cache: ContentCache,
  queries: WorkflowQueries,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const messages: Message[] = [];
  let digest = '';
  for await (const message of fetchRange(0, reference.length, queries, signal)) {
    const link: MessageReference = [cache.put(withoutTimestamp(message)), message.timestamp];
    digest = cache.link(digest, link);
    messages.push(message);
  }
  if (digest !== reference.digest) throw unavailable('its messages do not lead to its digest');
  return messages;
}

/** Messages `from` to `to` (exclusive) of the workflow's transcript. */
async function* fetchRange(
  from: number,
  to: number,
  queries: WorkflowQueries,
  signal: AbortSignal,
): AsyncGenerator<Message> {
  let next: MessagesQuery | undefined = { from };
  let index = from;
  let slices = '';
  while (index < to) {
    if (next === undefined) throw unavailable(`it ends before message ${index}`);
    const page: MessagesPage = await queries.messages({ ...next, limit: to - index }, signal);
    if (page.slice !== undefined) {
      slices += page.slice.text;
      if (page.next?.from !== index) {
        yield JSON.parse(slices) as Message;
        slices = '';
        index += 1;
      }
    }
    yield* page.messages;
    index += page.messages.length;
    next = page.next;
  }
}

async function valueOf(
  digest: Digest | undefined,
  cache: ContentCache,
  queries: WorkflowQueries,
  signal: AbortSignal,
): Promise<JsonValue | undefined> {
  return digest === undefined ? undefined : await loadValue(digest, cache, queries, signal);
}

async function loadValue(
  digest: Digest,
  cache: ContentCache,
  queries: WorkflowQueries,
  signal: AbortSignal,
): Promise<JsonValue> {
  const cached = cache.get(digest);
  if (cached !== undefined) return cached as JsonValue;
  let text = '';
  for (let next: ContextQuery | undefined = { digest }; next !== undefined;) {
    const page: ContextPage = await queries.context(next, signal);
    text += page.text;
    next = page.next;
  }
  const value = JSON.parse(text) as JsonValue;
  if (digestOf(value) !== digest) throw unavailable(`the value ${digest} is not what it names`);
  cache.put(value as object);
  return value;
}

function toMessage(content: unknown, timestamp: number): Message | undefined {
  return content === undefined ? undefined : ({ ...(content as Untimed), timestamp } as Message);
}

function unavailable(why: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: FailureType.ConversationUnavailable,
    message: `The conversation could not be read from its workflow: ${why}.`,
    nonRetryable: false,
  });
}
