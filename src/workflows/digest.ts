// Digests inside the sandbox, which has no crypto: SHA-256 from @noble/hashes, about 7 MB/s. The
// activities' twin uses Node's and gives the same digests.

import { sha256 } from '@noble/hashes/sha2.js';
import { toCanonicalJson } from '../protocol/json.js';
import type { Digest } from '../protocol/json.js';

/** The sandbox has the host's TextEncoder; no type library says so. */
declare const TextEncoder: new () => { encode(text: string): Uint8Array };

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The first 16 bytes of the SHA-256 of the value's canonical JSON, in base64url. */
export function digestOf(value: unknown): Digest {
  // The sandbox's TextEncoder is the host's: its arrays are of another realm, which noble refuses.
  const bytes = Uint8Array.from(new TextEncoder().encode(toCanonicalJson(value)));
  return toBase64Url(sha256(bytes).subarray(0, 16));
}

function toBase64Url(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(i, i + 3);
    const group = (a << 16) | (b << 8) | c;
    const characters = [group >> 18, (group >> 12) & 63, (group >> 6) & 63, group & 63];
    const used = Math.min(4, bytes.length - i + 1);
    text += characters
      .slice(0, used)
      .map((index) => alphabet.charAt(index))
      .join('');
  }
  return text;
}
