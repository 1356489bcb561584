// Reads objects from outside by their shape, by hand, as zod has no place in the sandbox. What comes out has
// the known fields and no others; a problem is one sentence that names the field.

import { isJsonObject } from './json.js';
import type { JsonObject } from './json.js';
import { describe } from './text.js';

export type Parsed<T> = { readonly value: T } | { readonly problem: string };

/** Reads one value; `at` is its path in the input. */
export type Parse<T = unknown> = (value: unknown, at: string) => Parsed<T>;

export interface Shape {
  readonly required: { readonly [field: string]: Parse };
  /** May also be null, as clients in languages without `undefined` write it: then it is left out. */
  readonly optional?: { readonly [field: string]: Parse };
}

/** An object's known fields, in the order of the shape. */
export function parseFields(object: JsonObject, at: string, shape: Shape): Parsed<JsonObject> {
  const fields: { [field: string]: JsonObject[string] } = {};
  for (const [field, parse] of Object.entries(shape.required)) {
    const parsed = parse(own(object, field), `${at}.${field}`);
    if ('problem' in parsed) return parsed;
    fields[field] = parsed.value as JsonObject[string];
  }
  for (const [field, parse] of Object.entries(shape.optional ?? {})) {
    const value = own(object, field);
    if (value === undefined || value === null) continue;
    const parsed = parse(value, `${at}.${field}`);
    if ('problem' in parsed) return parsed;
    fields[field] = parsed.value as JsonObject[string];
  }
  return { value: fields };
}

/** A field of the object itself: `constructor` is none that anyone sent. */
export function own(object: JsonObject, field: string): unknown {
  return Object.hasOwn(object, field) ? object[field] : undefined;
}

/** Every item of a list; holes count as missing values. */
export function parseItems<T>(
  list: readonly unknown[],
  at: string,
  parse: Parse<T>,
): Parsed<readonly T[]> {
  const items: T[] = [];
  for (const [index, item] of list.entries()) {
    const parsed = parse(item, `${at}[${index}]`);
    if ('problem' in parsed) return parsed;
    items.push(parsed.value);
  }
  return { value: items };
}

/** A parse that keeps values that pass `isExpected` as they are. */
export function expecting<T>(
  expected: string,
  isExpected: (value: unknown) => value is T,
): Parse<T> {
  return (value, at) =>
    isExpected(value)
      ? { value }
      : { problem: `${at}: expected ${expected}, got ${describe(value)}.` };
}

export const parseString = expecting(
  'a string',
  (value): value is string => typeof value === 'string',
);

export const parseName = expecting(
  'a name',
  (value): value is string => typeof value === 'string' && value !== '',
);

export const parseNumber = expecting('a number', (value): value is number =>
  Number.isFinite(value),
);

export const parseBoolean = expecting(
  'true or false',
  (value): value is boolean => typeof value === 'boolean',
);

export const parseObject = expecting('an object', isJsonObject);

/** Any JSON value at all. */
export const parseAny: Parse = (value) => ({ value });
