// Slices of a value's JSON text, for queries whose answer is larger than a page.

import { cutUtf8, utf8Length } from '../protocol/json.js';

/** Room that a slice takes when its text is a string inside the answer's JSON: quotes are escaped. */
function escapedLength(text: string): number {
  return utf8Length(JSON.stringify(text));
}

/** The longest start of `text` that takes at most about `maxBytes` as a string of JSON, and never more. */
export function cutEscaped(text: string, maxBytes: number): string {
  let cut = cutUtf8(text, maxBytes);
  while (cut !== '' && escapedLength(cut) > maxBytes) {
    cut = cutUtf8(cut, Math.floor((utf8Length(cut) * maxBytes) / escapedLength(cut)) - 1);
  }
  return cut;
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
  const text = cutEscaped(whole.slice(offset, offset + maxBytes), maxBytes);
  const end = offset + text.length;
  return { text, end: end < whole.length ? end : undefined };
}
