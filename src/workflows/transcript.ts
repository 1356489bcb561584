// The transcript: the conversation's only home. Activities get references; what a worker lacks it reads
// by the `messages` query, a page at a time.

import type { MessageReference, TranscriptReference } from '../protocol/activities.js';
import { jsonSize } from '../protocol/json.js';
import type { Digest } from '../protocol/json.js';
import { payloadLimits, queueLimits } from '../protocol/limits.js';
import type { Message, Untimed } from '../protocol/messages.js';
import type { MessagesPage, MessagesQuery } from '../protocol/session.js';
import {
  emptyTranscriptDigest,
  rollingDigestInput,
  withoutTimestamp,
} from '../protocol/transcript-digest.js';
import { digestOf } from './digest.js';
import { jsonSlice } from './json-slice.js';

export class Transcript {
  readonly #messages: Message[] = [];
  readonly #references: MessageReference[] = [];
  #digest: Digest = emptyTranscriptDigest;
  /** Length and rolling digest at the previous model call. */
  #called = { length: 0, digest: emptyTranscriptDigest };

  get length(): number {
    return this.#messages.length;
  }

  at(index: number): Message | undefined {
    return this.#messages[index];
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Appends and returns the index. A message with a time of its own keeps it. */
  append(message: Untimed | Message, now: number): number {
    const timestamp = ('timestamp' in message ? message.timestamp : undefined) ?? now;
    const untimed = withoutTimestamp(message);
    const reference: MessageReference = [digestOf(untimed), timestamp];
    this.#messages.push({ ...untimed, timestamp } as Message);
    this.#references.push(reference);
    this.#digest = digestOf(rollingDigestInput(this.#digest, reference));
    return this.#messages.length - 1;
  }

  /**
   * The transcript as activities are told of it. Of messages that are too many to be listed a worker is told
   * only where they lead, and reads them: an input that passes 2 MiB would fail the Workflow Task for ever.
   */
  reference(): TranscriptReference {
    const { length } = this.#messages;
    const digest = this.#digest;
    if (length - this.#called.length > queueLimits.maxAddedReferences) {
      return { length, digest, base: digest, added: [] };
    }
    const added = this.#references.slice(this.#called.length);
    return { length, digest, base: this.#called.digest, added };
  }

  /** From here on, references list what comes after the present end. */
  markModelCall(): void {
    this.#called = { length: this.#messages.length, digest: this.#digest };
  }

  page({ from = 0, limit = Infinity, offset = 0 }: MessagesQuery): MessagesPage {
    const length = this.#messages.length;
    const messages: Message[] = [];
    let bytes = 256;
    let index = Math.max(0, from);
    for (; index < length && messages.length < limit; index++) {
      const message = this.#messages[index] as Message;
      bytes += jsonSize(message) + 1;
      if (offset > 0 || (messages.length === 0 && bytes > payloadLimits.maxPageBytes)) {
        const { text, end } = jsonSlice(message, offset, payloadLimits.maxPageBytes - 512);
        const next =
          end === undefined
            ? index + 1 < length
              ? { from: index + 1 }
              : undefined
            : { from: index, offset: end };
        return {
          messages: [],
          slice: { index, offset, text },
          length,
          ...(next === undefined ? {} : { next }),
        };
      }
      if (bytes > payloadLimits.maxPageBytes) break;
      messages.push(message);
    }
    return { messages, length, ...(index < length ? { next: { from: index } } : {}) };
  }
}
