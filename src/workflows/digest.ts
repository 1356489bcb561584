// Digests inside the sandbox, which has no crypto: SHA-256 from @noble/hashes, about 7 MB/s. The
// activities' twin uses Node's and gives the same digests.

import { sha256 } from '@noble/hashes/sha2.js';
import { toCanonicalJson } from '../protocol/json.js';
import type { Digest } from '../protocol/json.js';

/** The sandbox has the host's TextEncoder; no type library says so. */
declare const TextEncoder: new () => { encode(text: string): Uint8Array };

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const encoder = new TextEncoder();

/** The first 16 bytes of the SHA-256 of the value's canonical JSON, in base64url. */
export function digestOf(value: unknown): Digest {
  // The sandbox's TextEncoder is the host's: its arrays are of another realm, which noble refuses.
  const bytes = new Uint8Array(encoder.encode(toCanonicalJson(value)));
  return toBase64Url(sha256(bytes).subarray(0, 16));
}

function toBase64Url(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const group = (at(bytes, i) << 16) | (at(bytes, i + 1) << 8) | at(bytes, i + 2);
    const used = Math.min(4, bytes.length - i + 1);
    for (let part = 0; part < used; part++) {
      text += alphabet.charAt((group >> (18 - 6 * part)) & 63);
    }
  }
  return text;
}

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
