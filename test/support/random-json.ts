// Random JSON values and texts with everything that encoders get wrong: lone surrogates, astral characters,
// control characters, integer-like keys, names of Object's own properties.

import type { JsonValue } from '../../src/protocol/json.js';
import type { Random } from './random.js';

const pieces = [
  'a',
  'Z',
  ' ',
  '"',
  '\\',
  '/',
  '\n',
  '\u0000',
  '\u001f',
  '\u007f',
  'ü',
  'ß',
  '߿',
  'ࠀ',
  '漢',
  '\u2028',
  '\ufeff',
  '\uffff',
  '🦉',
  '👩‍👩‍👧',
  '\ud800',
  '\udbff',
  '\udc00',
  '\udfff',
];

export function randomText(random: Random, maxPieces = 20): string {
  return Array.from({ length: random.below(maxPieces + 1) }, () => random.pick(pieces)).join('');
}

const numbers = [0, -0, 1, -1, 0.1, 1e21, 1e-7, 5e-324, 2 ** 53, 2 ** 53 + 2, -1.5e300, 123456789];
const keys = [
  'a',
  'b',
  'B',
  '10',
  '9',
  '-1',
  '01',
  '__proto__',
  'constructor',
  'toString',
  'length',
  '',
];

export function randomJson(random: Random, depth = 4): JsonValue {
  const kind = random.below(depth > 0 ? 7 : 5);
  if (kind === 0) return null;
  if (kind === 1) return random.chance(0.5);
  if (kind === 2) return random.pick(numbers);
  if (kind <= 4) return randomText(random);
  const length = random.below(5);
  if (kind === 5) return Array.from({ length }, () => randomJson(random, depth - 1));
  const entries = Array.from({ length }, () => [
    random.chance(0.6) ? random.pick(keys) : randomText(random, 4),
    randomJson(random, depth - 1),
  ]);
  return Object.fromEntries(entries) as JsonValue;
}

/** The same value with the fields of its objects in another order. */
export function shuffled(value: JsonValue, random: Random): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => shuffled(item, random));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, field]) => [
    key,
    shuffled(field as JsonValue, random),
  ]);
  for (let i = entries.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [entries[i], entries[j]] = [
      entries[j] as (typeof entries)[0],
      entries[i] as (typeof entries)[0],
    ];
  }
  return Object.fromEntries(entries) as JsonValue;
}
