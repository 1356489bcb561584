// Texts that people send, as far as they appear in messages to people: short, and well-formed. Temporal
// carries failures as Protocol Buffers, and a worker that writes half a surrogate pair into one is shut
// down by the SDK.

/** The text with U+FFFD in place of every lone surrogate, as UTF-8 has no way to write one. */
export function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udfff]/gu, '\ufffd');
}

/** The start of a text, well-formed, with an ellipsis where it was cut. */
export function excerpt(text: string, maxLength: number): string {
  return text.length <= maxLength ? wellFormed(text) : `${cutPair(text, maxLength)}…`;
}

function cutPair(text: string, maxLength: number): string {
  const cut = text.slice(0, maxLength);
  // The half of a pair that the cut left over is dropped; one that stood alone before is replaced.
  return wellFormed(/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut);
}

/** A field's name in an error message: in quotes where it could be taken for something else. */
export function fieldName(field: string): string {
  return /^\w{1,60}$/.test(field) ? field : describe(field);
}

/** A value in an error message: short, and never the whole of something large. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return excerpt(JSON.stringify(value.slice(0, 100)), 60);
  return excerpt(String(value as number | boolean), 60);
}
