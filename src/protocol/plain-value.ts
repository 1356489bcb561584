// Values and texts made fit for JSON, payloads and providers.

import type { JsonValue } from './json.js';

/** Deeper than this, values are left out: encoders are recursive. */
const maxDepth = 100;

/** Without what breaks JSON readers or providers: lone surrogates and NULs become U+FFFD. */
export function plainText(text: string): string {
  return text.replace(/\p{Surrogate}|\0/gu, '\ufffd');
}

/**
 * A copy that JSON carries as it is. BigInts become strings, NaN and infinities null; functions, symbols
 * and undefined are left out (null in lists); a value inside itself becomes `[circular]`; what has
 * `toJSON` is asked. A value that cannot be read becomes a note.
 */
export function plainValue(value: unknown): JsonValue {
  try {
    return toPlain(value, []) ?? null;
  } catch (error) {
    return `[this value cannot be written as JSON: ${error instanceof Error ? error.message : String(error)}]`;
  }
}

function toPlain(value: unknown, above: readonly object[]): JsonValue | undefined {
  switch (typeof value) {
    case 'string':
      return plainText(value);
    case 'boolean':
      return value;
    case 'number':
      // JSON writes minus zero as zero.
      return Number.isFinite(value) ? value + 0 : null;
    case 'bigint':
      return String(value);
    case 'object':
      return value === null ? null : toPlainObject(value, above);
    case 'undefined':
    case 'function':
    case 'symbol':
      return undefined;
  }
}

function toPlainObject(value: object, above: readonly object[]): JsonValue | undefined {
  if (above.includes(value)) return '[circular]';
  if (above.length >= maxDepth) return '[too deeply nested]';
  const path = [...above, value];
  if ('toJSON' in value && typeof value.toJSON === 'function') return toPlain(value.toJSON(), path);
  // Not by `map`, which leaves holes.
  if (Array.isArray(value)) return Array.from(value, (item) => toPlain(item, path) ?? null);
  if (value instanceof Error) return plainText(`${value.name}: ${value.message}`);
  const plain: { [key: string]: JsonValue } = {};
  for (const [key, field] of Object.entries(value)) {
    const converted = toPlain(field, path);
    // `__proto__` would set the prototype.
    if (converted !== undefined && key !== '__proto__') plain[plainText(key)] = converted;
  }
  return plain;
}
