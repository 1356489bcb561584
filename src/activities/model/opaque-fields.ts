// Opaque data that providers want back as it came, e.g. `reasoning_details`: it arrives in pieces and is
// put together without being understood.

import type { JsonObject } from '../../protocol/json.js';
import { fieldsOf } from './stream-chunk.js';
import type { Fields } from './stream-chunk.js';

/** Fields of entries that grow from piece to piece; all others stay or are replaced. */
const growingFields = ['text', 'summary', 'thinking'];

/** Lists are appended, with neighbouring pieces of one entry joined; other values are replaced. */
export function mergeOpaque(present: JsonObject | undefined, piece: Fields): JsonObject {
  const merged: Record<string, unknown> = { ...present };
  for (const [name, value] of Object.entries(piece)) {
    const before = merged[name];
    if (!Array.isArray(value)) merged[name] = value;
    else merged[name] = value.reduce(append, Array.isArray(before) ? before : []);
  }
  return merged as JsonObject;
}

function append(list: readonly unknown[], entry: unknown): readonly unknown[] {
  const last = fieldsOf(list.at(-1));
  const next = fieldsOf(entry);
  if (last === undefined || next === undefined || !continues(last, next)) return [...list, entry];
  const joined: Record<string, unknown> = { ...last };
  for (const [name, value] of Object.entries(next)) {
    if (value === null || value === undefined) continue;
    const before = joined[name];
    const grows = growingFields.includes(name) && typeof value === 'string';
    joined[name] = grows && typeof before === 'string' ? before + value : value;
  }
  return [...list.slice(0, -1), joined];
}

/** A piece of text of the same type and place, to which the entry's signature may come last. */
function continues(last: Fields, next: Fields): boolean {
  if (next['type'] !== last['type'] || next['index'] !== last['index']) return false;
  if (typeof last['signature'] === 'string') return false;
  if (next['id'] !== undefined && next['id'] !== null && next['id'] !== last['id']) return false;
  return growingFields.some((name) => typeof last[name] === 'string');
}
