// A worker's cache of transcripts: contents by digest, and the chain of rolling digests that orders them.
// Bounded in bytes. It can be wrong about nothing: every key is the digest of what it holds, so a reset, a
// fork or the same workflow id started again never sees the prefix of another branch.

import { LRUCache } from 'lru-cache';
import type { MessageReference } from '../protocol/activities.js';
import { deepFreeze, utf8Length } from '../protocol/json.js';
import type { Digest, JsonValue } from '../protocol/json.js';
import { emptyTranscriptDigest, rollingDigestInput } from '../protocol/transcript-digest.js';
import { digestOf } from './digest.js';

/** What an entry costs beside its content: keys, map slots. */
const entryOverheadBytes = 300;

/** Sessions whose tips are kept: a few dozen bytes each. */
const keptTips = 10_000;

/** The end of a transcript as far as it is known. */
export interface Tip {
  readonly digest: Digest;
  readonly length: number;
}

interface Link {
  readonly previous: Digest;
  readonly reference: MessageReference;
}

export class ContentCache {
  readonly #contents: LRUCache<Digest, { readonly value: unknown; readonly bytes: number }>;
  readonly #links: LRUCache<Digest, Link>;
  readonly #tips = new LRUCache<string, Tip>({ max: keptTips });

  constructor(maxBytes: number) {
    // An eighth for the links: they are small, and without them contents are of no use.
    this.#contents = new LRUCache({
      maxSize: Math.max(1, Math.floor((maxBytes * 7) / 8)),
      sizeCalculation: ({ bytes }) => bytes + entryOverheadBytes,
    });
    this.#links = new LRUCache({ max: Math.max(1, Math.floor(maxBytes / 8 / entryOverheadBytes)) });
  }

  get(digest: Digest): unknown {
    return this.#contents.get(digest)?.value;
  }

  /**
   * Keeps a value as the workflow will know it, and returns its digest: a copy that went through JSON, so
   * that what produced the value may go on using it. The copy is frozen: a hook that changed it would
   * change what later calls see. A value larger than the whole cache is not kept.
   */
  put(value: JsonValue | object): Digest {
    const text = JSON.stringify(value);
    const copy = JSON.parse(text) as unknown;
    const digest = digestOf(copy);
    // Looking it up marks it as used.
    if (this.#contents.get(digest) === undefined) {
      this.#contents.set(digest, { value: deepFreeze(copy), bytes: utf8Length(text) });
    }
    return digest;
  }

  /** Adds a message's reference to the chain and returns the rolling digest after it. */
  link(previous: Digest, reference: MessageReference): Digest {
    const digest = digestOf(rollingDigestInput(previous, reference));
    if (!this.#links.has(digest)) this.#links.set(digest, { previous, reference });
    return digest;
  }

  /** The references that lead to a rolling digest, oldest first; undefined when a link is gone. */
  chain(digest: Digest): MessageReference[] | undefined {
    const references: MessageReference[] = [];
    for (let at = digest; at !== emptyTranscriptDigest;) {
      const link = this.#links.get(at);
      if (link === undefined) return undefined;
      references.push(link.reference);
      at = link.previous;
    }
    return references.reverse();
  }

  /** How far this worker last saw a session. A hint: what is read on from there proves itself by digest. */
  tip(session: string): Tip | undefined {
    return this.#tips.get(session);
  }

  keepTip(session: string, { digest, length }: Tip): void {
    this.#tips.set(session, { digest, length });
  }
}
