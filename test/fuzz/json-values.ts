// Arbitrary texts and JSON values, with everything that encoders get wrong: lone surrogates, astral and
// control characters, integer-like keys, names of Object's own properties. And damage done to good values.

import fc from 'fast-check';
import type { JsonValue } from '../../src/protocol/json.js';

/** Apart by spaces. */
const characters =
  '" \\ / \n \r\n \t \u0000 \u001f \u007f ü ߿ ࠀ 漢 \u2028 \ufeff \ufffd \uffff 🦉 👩‍👩‍👧 \ud800 \udbff \udc00 \udfff';

const troublesome = fc.constantFrom(...characters.split(' '));

/** Mostly plain words, with a troublesome character now and then. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: fc.string({ maxLength: 12 }), weight: 3 },
  {
    arbitrary: fc.string({
      unit: fc.oneof(troublesome, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })),
      maxLength: 20,
    }),
    weight: 3,
  },
  { arbitrary: fc.constantFrom('', ' ', '__proto__', 'null', '{}', '0', 'true'), weight: 1 },
);

/** Long texts of few different characters: cheap to make, and to cut in any place. */
export function longText(maxLength: number): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.array(fc.oneof(troublesome, fc.constant('x')), { minLength: 1, maxLength: 4 }),
      fc.nat(),
    )
    .map(([pieces, length]) => {
      const unit = pieces.join('');
      return unit.repeat(Math.ceil((length % (maxLength + 1)) / unit.length));
    });
}

/** Without minus zero, which JSON writes as zero. */
const numbers = fc
  .oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, 1e21, 1e-7, 5e-324, 2 ** 53, 2 ** 53 + 2, -1.5e300),
  )
  .map((number) => number + 0);

const keys = fc.oneof(
  fc.constantFrom('a', 'b', 'B', '10', '9', '-1', '01', '', 'length', 'toString'),
  fc.constantFrom('__proto__', 'constructor', 'hasOwnProperty', 'toJSON'),
  anyText,
);

/** Any JSON value, as `JSON.parse` makes them: `__proto__` is a field like others. */
export const anyJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    numbers,
    anyText,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.tuple(keys, tie('value')), { maxLength: 5 }).map(Object.fromEntries),
  ),
})).value;

/** One change to a value of JSON at a place that exists in it. */
export interface Damage {
  /** Which of the value's places, counted modulo their number. */
  readonly place: number;
  readonly kind: 'replace' | 'remove' | 'add' | 'repeat';
  readonly value: JsonValue;
  readonly key: string;
}

export function damage(keyNames: readonly string[]): fc.Arbitrary<Damage> {
  return fc.record({
    place: fc.nat(10_000),
    kind: fc.constantFrom('replace', 'replace', 'remove', 'add', 'repeat'),
    value: fc.oneof(
      anyJson,
      fc.constantFrom<JsonValue>(null, '', [], {}, 0, -1, 1.5, '5', true, 'x'.repeat(300)),
      fc.constantFrom<JsonValue>('5 s', 5, [''], [{ type: 'text', text: '' }], [5]),
    ),
    key: fc.oneof(fc.constantFrom(...keyNames), keys),
  });
}

type Container = { [key: string]: JsonValue } | JsonValue[];

/** Every place below the top: its container, its key and the path to it. */
function placesIn(value: JsonValue): { container: Container; key: string; path: string[] }[] {
  const places: { container: Container; key: string; path: string[] }[] = [];
  const visit = (container: JsonValue, path: string[]) => {
    if (typeof container !== 'object' || container === null) return;
    for (const [key, item] of Object.entries(container)) {
      places.push({ container: container as Container, key, path: [...path, key] });
      visit(item as JsonValue, [...path, key]);
    }
  };
  visit(value, []);
  return places;
}

/** A damaged copy, and where it was damaged. */
export function damaged(
  original: JsonValue,
  { place, kind, value, key }: Damage,
): { readonly value: JsonValue; readonly path: readonly string[] } {
  const copy = structuredClone(original) as JsonValue;
  const places = placesIn(copy);
  const chosen = places[place % (places.length + 1)];
  if (chosen === undefined) {
    if (kind !== 'add' || typeof copy !== 'object' || copy === null || Array.isArray(copy)) {
      return { value, path: [] };
    }
    set(copy as Container, key, value);
    return { value: copy, path: [key] };
  }
  const { container, path } = chosen;
  const inside = (container as { [key: string]: JsonValue })[chosen.key];
  switch (kind) {
    case 'replace':
      set(container, chosen.key, value);
      break;
    case 'remove':
      if (Array.isArray(container)) container.splice(Number(chosen.key), 1);
      else delete container[chosen.key];
      break;
    case 'add':
      if (typeof inside === 'object' && inside !== null && !Array.isArray(inside)) {
        set(inside as Container, key, value);
      } else if (Array.isArray(inside)) (inside as JsonValue[]).push(value);
      else set(container, chosen.key, value);
      break;
    case 'repeat':
      if (Array.isArray(container)) container.push(structuredClone(inside) as JsonValue);
      else set(container, key, structuredClone(inside) as JsonValue);
  }
  return {
    value: copy,
    path: kind === 'repeat' && !Array.isArray(container) ? [...path.slice(0, -1), key] : path,
  };
}

function set(container: Container, key: string, value: JsonValue): void {
  Object.defineProperty(container, key, {
    value: structuredClone(value),
    configurable: true,
    enumerable: true,
    writable: true,
  });
}

/** As it arrives on the other side of a payload. */
export function received<T>(value: T): T {
  return JSON.parse(Buffer.from(JSON.stringify(value), 'utf8').toString('utf8')) as T;
}
