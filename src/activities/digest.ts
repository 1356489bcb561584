// Digests on the worker, by Node's SHA-256. The sandbox's twin in src/workflows gives the same ones.

import { createHash } from 'node:crypto';
import { toCanonicalJson } from '../protocol/json.js';
import type { Digest } from '../protocol/json.js';

/** The first 16 bytes of the SHA-256 of the value's canonical JSON, in base64url. */
export function digestOf(value: unknown): Digest {
  const hash = createHash('sha256').update(toCanonicalJson(value), 'utf8').digest();
  return hash.subarray(0, 16).toString('base64url');
}
