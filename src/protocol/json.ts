// JSON values, their canonical text and their size: what digests, page bounds and payload limits are
// computed from, in the workflow sandbox and in Node alike.

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

export type JsonObject = { readonly [key: string]: JsonValue | undefined };

/** A SHA-256 digest of canonical JSON, its first 16 bytes in base64url: 22 characters. */
export type Digest = string;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Levels of nesting that a value from outside may have. Whatever reads JSON text goes to any depth, but
 * writing it recurses, and in a workflow an overflowing stack would fail the Workflow Task for ever.
 */
export const maxJsonDepth = 128;

/** Whether a value is nested deeper than `maxDepth` levels; a cycle is. */
export function isNestedTooDeeply(value: unknown, maxDepth: number = maxJsonDepth): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (maxDepth === 0) return true;
  return Object.values(value).some((item) => isNestedTooDeeply(item, maxDepth - 1));
}

/**
 * JSON text with sorted keys and without `undefined`, equal for equal values whatever order their
 * fields were set in. Digests are taken from it, so it is also equal for a value and for what becomes of
 * it on the way through JSON: a date is its text, NaN is null.
 */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value));
}

function sortKeys(original: unknown): unknown {
  const value = hasToJson(original) ? (original.toJSON() as unknown) : original;
  if (Array.isArray(value)) return value.map((item) => sortKeys(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([key, field]) => [key, sortKeys(field)]));
}

/** Freezes a value of JSON through and through; what is frozen already is taken to be so all the way down. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const field of Object.values(value)) deepFreeze(field);
  return value;
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { toJSON?: unknown }).toJSON === 'function'
  );
}

/** Bytes of a string in UTF-8. A lone surrogate counts 3, as encoders write U+FFFD for it. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    const size = bytesOfUnit(unit, text.charCodeAt(i + 1));
    bytes += size === 4 ? 2 : size - 1;
    if (size === 4) i += 1;
  }
  return bytes;
}

/** Bytes of the character that begins with `unit`; 4 when it is a pair with `next`. */
function bytesOfUnit(unit: number, next: number): number {
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  return isHighSurrogate(unit) && isLowSurrogate(next) ? 4 : 3;
}

/** Bytes of a value's JSON in UTF-8, as a Temporal payload carries it. */
export function jsonSize(value: unknown): number {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? 0 : utf8Length(text);
}

/**
 * The longest start of `text` that fits in `maxBytes` of UTF-8 and does not end inside a surrogate
 * pair. With `fromEnd`, the longest end.
 */
export function cutUtf8(text: string, maxBytes: number, fromEnd = false): string {
  if (text.length * 3 <= maxBytes) return text;
  let left = maxBytes;
  if (fromEnd) {
    let start = text.length;
    while (start > 0) {
      const isPair =
        isLowSurrogate(text.charCodeAt(start - 1)) && isHighSurrogate(text.charCodeAt(start - 2));
      left -= isPair ? 4 : bytesOfUnit(text.charCodeAt(start - 1), Number.NaN);
      if (left < 0) break;
      start -= isPair ? 2 : 1;
    }
    return text.slice(start);
  }
  let end = 0;
  while (end < text.length) {
    const size = bytesOfUnit(text.charCodeAt(end), text.charCodeAt(end + 1));
    left -= size;
    if (left < 0) break;
    end += size === 4 ? 2 : 1;
  }
  return text.slice(0, end);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
