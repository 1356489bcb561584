// Lists that have to fit an answer of bounded size.

import { jsonSize } from '../protocol/json.js';

/** The first items, as many as take at most `maxBytes` as a list in JSON. */
export function fitting<T>(items: readonly T[], maxBytes: number): readonly T[] {
  let bytes = 2;
  const beyond = items.findIndex((item) => {
    bytes += jsonSize(item) + 1;
    return bytes > maxBytes;
  });
  return beyond === -1 ? items : items.slice(0, beyond);
}
