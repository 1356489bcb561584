// Slices of a value's JSON text, for queries whose answer is larger than a page.

import { cutUtf8, utf8Length } from '../protocol/json.js';

/** Room that a slice takes when its text is a string inside the answer's JSON: quotes are escaped. */
function escapedLength(text: string): number {
  return utf8Length(JSON.stringify(text));
}

/**
 * The part of the value's JSON text from `offset` (UTF-16 units) that takes at most `maxBytes` inside an
 * answer. `end` is where the next part begins; undefined when this one is the last.
 */
export function jsonSlice(
  value: unknown,
  offset: number,
  maxBytes: number,
): { readonly text: string; readonly end: number | undefined } {
  const whole = JSON.stringify(value);
  let text = cutUtf8(whole.slice(offset, offset + maxBytes), maxBytes);
  while (text.length > 1 && escapedLength(text) > maxBytes) {
    text = cutUtf8(text, Math.floor((utf8Length(text) * maxBytes) / escapedLength(text)) - 1);
  }
  const end = offset + text.length;
  return { text, end: end < whole.length ? end : undefined };
}
