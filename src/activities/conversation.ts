// What activities ask of the transcript. The worker's cache and the workflow's queries stand behind it.

import type { ConversationReference } from '../protocol/activities.js';
import type { ToolSpec } from '../protocol/agent-definition.js';
import type { Digest, JsonValue } from '../protocol/json.js';
import type { Message, Untimed } from '../protocol/messages.js';

export interface Conversation {
  readonly systemPrompt: string | undefined;
  readonly tools: readonly ToolSpec[];
  /** The whole transcript. */
  readonly transcript: readonly Message[];
  /** What a model call sees: messages put before, then the transcript from `dropBefore` on. */
  readonly visible: readonly Message[];
}

/** Bound to the workflow of the present activity. */
export interface ConversationSource {
  /**
   * The conversation that `reference` names, from the cache or by query.
   * @throws ConversationUnavailable (retryable) when the workflow does not answer in time.
   */
  load(reference: ConversationReference, signal: AbortSignal): Promise<Conversation>;
  /** A value by its digest: large arguments, a tool result under way. @throws as `load` */
  value(digest: Digest, signal: AbortSignal): Promise<JsonValue>;
  /** Puts a message this activity produced into the cache, so that the next model call finds it. */
  remember(message: Untimed): void;
  /** Puts a value into the cache, e.g. large arguments the workflow will refer to. */
  rememberValue(value: JsonValue): void;
}
