// Values that activities are told by digest: system prompts, tool lists, prepended messages, large
// arguments, results on their way through a hook. The `context` query answers them.

import type { Digest, JsonValue } from '../protocol/json.js';
import { payloadLimits } from '../protocol/limits.js';
import type { ContextPage, ContextQuery } from '../protocol/session.js';
import { describe } from '../protocol/text.js';
import { digestOf } from './digest.js';
import { jsonSlice } from './json-slice.js';

export class ValueStore {
  readonly #values = new Map<Digest, unknown>();
  /** Digests that go when the batch has ended. */
  readonly #ofBatch = new Set<Digest>();

  /** Digests of kept values by identity: they are named at every model call. */
  readonly #kept = new Map<unknown, Digest>();

  /** Keeps a value as long as the session. */
  keep(value: JsonValue | readonly object[]): Digest {
    const known = this.#kept.get(value);
    if (known !== undefined) return known;
    const digest = digestOf(value);
    this.#kept.set(value, digest);
    this.#values.set(digest, value);
    this.#ofBatch.delete(digest);
    return digest;
  }

  /** Keeps a value until the tool batch has ended. */
  keepForBatch(value: JsonValue | object): Digest {
    const digest = digestOf(value);
    if (!this.#values.has(digest)) {
      this.#values.set(digest, value);
      this.#ofBatch.add(digest);
    }
    return digest;
  }

  forgetBatch(): void {
    for (const digest of this.#ofBatch) this.#values.delete(digest);
    this.#ofBatch.clear();
  }

  has(digest: Digest): boolean {
    return this.#values.has(digest);
  }

  /** @throws Error when nothing has this digest: the query fails with its message. */
  page({ digest, offset = 0 }: ContextQuery): ContextPage {
    const value = this.#values.get(digest);
    if (value === undefined)
      throw new Error(`Nothing with the digest ${describe(digest)} is in use.`);
    const { text, end } = jsonSlice(value, offset, payloadLimits.maxPageBytes - 512);
    return { text, ...(end === undefined ? {} : { next: { digest, offset: end } }) };
  }
}
