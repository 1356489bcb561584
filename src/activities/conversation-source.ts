// Gives an activity the conversation that its input refers to: from the worker's cache, and what that
// lacks from the workflow itself. Digests decide what belongs to it, whoever it came from.

import type {
  ConversationReference,
  MessageReference,
  TranscriptReference,
} from '../protocol/activities.js';
import type { ToolSpec } from '../protocol/agent-definition.js';
import { deepFreeze } from '../protocol/json.js';
import type { Digest, JsonValue } from '../protocol/json.js';
import type { InputMessage, Message, Untimed } from '../protocol/messages.js';
import { emptyTranscriptDigest, withoutTimestamp } from '../protocol/transcript-digest.js';
import type { ContentCache } from './content-cache.js';
import type { Conversation, ConversationSource } from './conversation.js';
import { digestOf } from './digest.js';
import { readMessages, readValue, unavailable } from './query-pages.js';
import type { WorkflowQueries } from './query-pages.js';

export function createConversationSource(
  cache: ContentCache,
  queries: WorkflowQueries,
): ConversationSource {
  const valueOf = async (digest: Digest | undefined, signal: AbortSignal) =>
    digest === undefined ? undefined : await loadValue(digest, cache, queries, signal);
  return {
    async load(reference, signal) {
      const [transcript, systemPrompt, tools, prepend] = await Promise.all([
        loadTranscript(reference.transcript, cache, queries, signal),
        valueOf(reference.systemPrompt, signal),
        valueOf(reference.tools, signal),
        valueOf(reference.prepend, signal),
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
  { dropBefore = 0 }: ConversationReference,
  transcript: readonly Message[],
  parts: {
    readonly systemPrompt: string | undefined;
    readonly tools: readonly ToolSpec[];
    readonly prepend: readonly InputMessage[];
  },
): Conversation {
  const kept = transcript.slice(Math.max(0, dropBefore));
  const timestamp = kept[0]?.timestamp ?? 0;
  return {
    systemPrompt: parts.systemPrompt,
    tools: parts.tools,
    transcript,
    visible: [...parts.prepend.map((message) => toMessage(message, timestamp)), ...kept],
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

  let references = cache.chain(digest);
  if (references?.length !== reference.length) {
    await catchUp(reference, cache, queries, signal);
    references = cache.chain(digest);
  }
  const messages =
    references?.length === reference.length
      ? await fillGaps(references, reference, cache, queries, signal)
      : await fetchAll(reference, cache, queries, signal);
  const session = sessionOf(reference, queries);
  if (session !== undefined) cache.keepTip(session, reference);
  return messages;
}

/** A transcript by the name under which the cache keeps its tip; an agent's name holds no line break. */
function sessionOf(
  { agent }: TranscriptReference,
  { session }: WorkflowQueries,
): string | undefined {
  return session === undefined || agent === undefined ? session : `${session}\n${agent}`;
}

/**
 * Links what other workers added since this one last saw the session, if it is still the same branch: then
 * the links from there lead to the base of the reference.
 */
async function catchUp(
  reference: TranscriptReference,
  cache: ContentCache,
  queries: WorkflowQueries,
  signal: AbortSignal,
): Promise<void> {
  const { base, length, added, agent } = reference;
  const session = sessionOf(reference, queries);
  const tip = session === undefined ? undefined : cache.tip(session);
  const to = length - added.length;
  if (tip === undefined || tip.length >= to || base === emptyTranscriptDigest) return;
  if (cache.chain(tip.digest) === undefined) return;
  let { digest } = tip;
  for await (const message of readMessages({ agent, from: tip.length, to }, queries, signal)) {
    digest = cache.link(digest, [cache.put(withoutTimestamp(message)), message.timestamp]);
  }
}

/** The messages of a chain whose order is known; those the cache has lost are read, and no others. */
async function fillGaps(
  references: readonly MessageReference[],
  { agent }: TranscriptReference,
  cache: ContentCache,
  queries: WorkflowQueries,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const messages = references.map(([digest, timestamp]) => {
    const content = cache.get(digest);
    return content === undefined ? undefined : toMessage(content as Untimed, timestamp);
  });
  for (let from = 0; from < messages.length; from++) {
    if (messages[from] !== undefined) continue;
    let to = from + 1;
    while (to < messages.length && messages[to] === undefined) to++;
    for await (const message of readMessages({ agent, from, to }, queries, signal)) {
      const [digest, timestamp] = references[from] as MessageReference;
      if (cache.put(withoutTimestamp(message)) !== digest) {
        throw unavailable(`message ${from} is not the one its digest names`);
      }
      messages[from] = toMessage(withoutTimestamp(message), timestamp);
      from += 1;
    }
  }
  return messages as Message[];
}

/** The whole transcript by query, when the cache does not know the order of its messages. */
async function fetchAll(
  { length, digest: expected, agent }: TranscriptReference,
  cache: ContentCache,
  queries: WorkflowQueries,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const messages: Message[] = [];
  let digest = emptyTranscriptDigest;
  for await (const message of readMessages({ agent, from: 0, to: length }, queries, signal)) {
    const content = withoutTimestamp(message);
    digest = cache.link(digest, [cache.put(content), message.timestamp]);
    messages.push(toMessage(content, message.timestamp));
  }
  if (digest !== expected) throw unavailable('its messages do not lead to its digest');
  return messages;
}

async function loadValue(
  digest: Digest,
  cache: ContentCache,
  queries: WorkflowQueries,
  signal: AbortSignal,
): Promise<JsonValue> {
  const cached = cache.get(digest);
  if (cached !== undefined) return cached as JsonValue;
  const value = await readValue(digest, queries, signal);
  if (digestOf(value) !== digest) throw unavailable(`the value ${digest} is not what it names`);
  cache.put(value as object);
  return deepFreeze(value);
}

/** Frozen, wherever it came from: a hook that changes it fails each time, not now and then. */
function toMessage(content: Untimed, timestamp: number): Message {
  return deepFreeze({ ...content, timestamp } as Message);
}
