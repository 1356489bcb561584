// What the model calls of one run are made from: the agent's definition, what the input chose of it, and
// what `prepareNextTurn` changed. The transcript is never rewritten.

import type { ConversationReference, PrepareNextTurnResult } from '../protocol/activities.js';
import type { ThinkingLevel } from '../protocol/agent-definition.js';
import type { Message } from '../protocol/messages.js';
import type { AgentSession } from './agent-session.js';

export class RunView {
  readonly #session: AgentSession;
  #changes: PrepareNextTurnResult = {};

  constructor(session: AgentSession) {
    this.#session = session;
  }

  /** For the rest of the run, field by field. */
  change(fields: PrepareNextTurnResult): PrepareNextTurnResult {
    this.#changes = { ...this.#changes, ...fields };
    return this.#changes;
  }

  /** The name of the model in the worker's config. */
  get model(): string {
    return this.#changes.model ?? this.#session.resolved().model;
  }

  get thinkingLevel(): ThinkingLevel | undefined {
    const { input } = this.#session;
    return (
      this.#changes.thinkingLevel ?? input.thinkingLevel ?? this.#session.resolved().thinkingLevel
    );
  }

  get systemPrompt(): string | undefined {
    const { input } = this.#session;
    return (
      this.#changes.systemPrompt ?? input.systemPrompt ?? this.#session.resolved().systemPrompt
    );
  }

  /** The messages that a model call made now would see. */
  messages(): readonly Message[] {
    const { prepend = [], dropBefore = 0 } = this.#changes;
    const kept = this.#session.transcript.messages.slice(dropBefore);
    const timestamp = kept[0]?.timestamp ?? 0;
    return [...prepend.map((message) => ({ ...message, timestamp })), ...kept];
  }

  /** The same for activities: references and digests. */
  conversation(): ConversationReference {
    const { transcript, values, own } = this.#session;
    const { systemPrompt } = this;
    const { prepend, dropBefore } = this.#changes;
    return {
      transcript: {
        ...transcript.reference(),
        ...(own === undefined ? {} : { agent: own.name }),
      },
      ...(systemPrompt === undefined ? {} : { systemPrompt: values.keep(systemPrompt) }),
      tools: values.keep(this.#session.resolved().tools),
      ...(prepend === undefined ? {} : { prepend: values.keep(prepend) }),
      ...(dropBefore === undefined ? {} : { dropBefore }),
    };
  }
}
