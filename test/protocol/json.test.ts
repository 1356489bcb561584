import { describe, expect, test } from 'vitest';
import {
  cutUtf8,
  isNestedTooDeeply,
  jsonSize,
  maxJsonDepth,
  toCanonicalJson,
  utf8Length,
} from '../../src/protocol/json.js';
import { randomJson, randomText, shuffled } from '../support/random-json.js';
import { createRandom } from '../support/random.js';

const bytesOf = (text: string) => Buffer.byteLength(text, 'utf8');
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit < 0xe000;
const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit < 0xdc00;

// oxlint-disable-next-line no-sparse-arrays -- a hole is what is tested
const listWithHole = [undefined, , 1];

describe('toCanonicalJson', () => {
  test('does not depend on the order of fields, and reads back as the same value', () => {
    const random = createRandom(1);
    for (let i = 0; i < 500; i++) {
      const value = randomJson(random);
      const canonical = toCanonicalJson(value);
      expect(toCanonicalJson(shuffled(value, random))).toBe(canonical);
      expect(JSON.parse(canonical)).toEqual(JSON.parse(JSON.stringify(value)));
    }
  });

  test('sorts keys by UTF-16 units at every depth, integer-like ones as engines order them', () => {
    expect(toCanonicalJson({ b: [{ z: 1, a: 2 }], B: 1, '10': 1, '9': 1, ä: 1 })).toBe(
      '{"9":1,"10":1,"B":1,"b":[{"a":2,"z":1}],"ä":1}',
    );
  });

  test('keeps a field named __proto__', () => {
    expect(toCanonicalJson(JSON.parse('{"b":1,"__proto__":{"x":1}}'))).toBe(
      '{"__proto__":{"x":1},"b":1}',
    );
  });

  test.each<[string, unknown]>([
    ['undefined fields', { a: undefined, b: { c: undefined } }],
    ['undefined items and holes', listWithHole],
    ['dates', { at: new Date(0) }],
    ['values with toJSON', { nested: [{ toJSON: () => ({ z: 1, a: 2 }) }] }],
    ['buffers', { data: Buffer.from('hi') }],
    ['NaN and infinities', [Number.NaN, Infinity, -Infinity]],
    ['minus zero', { n: -0 }],
    ['functions and symbols', { f: () => 1, s: Symbol('s'), list: [() => 1] }],
    ['maps and sets', { map: new Map([[1, 2]]), set: new Set([1]) }],
    [
      'instances of classes',
      new (class Point {
        x = 1;
        y = 2;
      })(),
    ],
    ['objects without a prototype', Object.assign(Object.create(null), { b: 1, a: 2 })],
  ])('is the same before and after a way through JSON: %s', (_, value) => {
    expect(toCanonicalJson(value)).toBe(toCanonicalJson(JSON.parse(JSON.stringify(value))));
  });
});

describe('utf8Length', () => {
  test('counts the bytes that an encoder writes, for random texts', () => {
    const random = createRandom(2);
    for (let i = 0; i < 2_000; i++) {
      const text = randomText(random);
      expect(utf8Length(text)).toBe(bytesOf(text));
    }
  });

  test('counts every code unit of its own, and every pair, like an encoder', () => {
    const wrong: number[] = [];
    for (let unit = 0; unit <= 0xffff; unit += 1) {
      const text = String.fromCharCode(unit);
      if (utf8Length(text) !== bytesOf(text)) wrong.push(unit);
    }
    expect(wrong).toEqual([]);
    for (const code of [0x10000, 0x1f989, 0x10ffff]) {
      expect(utf8Length(String.fromCodePoint(code))).toBe(4);
    }
  });
});

describe('jsonSize', () => {
  test('is the size of the JSON in UTF-8, for random values', () => {
    const random = createRandom(3);
    for (let i = 0; i < 500; i++) {
      const value = randomJson(random);
      expect(jsonSize(value)).toBe(bytesOf(JSON.stringify(value)));
    }
  });

  test('is 0 for what JSON leaves out', () => {
    expect(jsonSize(undefined)).toBe(0);
  });
});

describe('cutUtf8', () => {
  test('returns the longest start, or end, that fits and splits no pair, for random texts', () => {
    const random = createRandom(4);
    for (let i = 0; i < 2_000; i++) {
      const text = randomText(random);
      const maxBytes = random.below(40);
      for (const fromEnd of [false, true]) {
        const cut = cutUtf8(text, maxBytes, fromEnd);
        expect(fromEnd ? text.endsWith(cut) : text.startsWith(cut)).toBe(true);
        expect(bytesOf(cut)).toBeLessThanOrEqual(maxBytes);
        if (cut === text) continue;
        const at = fromEnd ? text.length - cut.length : cut.length;
        const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
        expect(isHighSurrogate(before) && isLowSurrogate(after)).toBe(false);
        expect(bytesOf(nextLonger(text, cut.length, fromEnd))).toBeGreaterThan(maxBytes);
      }
    }
  });

  test.each([0, -1])('leaves nothing of a text for %i bytes', (maxBytes) => {
    expect(cutUtf8('text', maxBytes)).toBe('');
    expect(cutUtf8('text', maxBytes, true)).toBe('');
  });
});

/** One character more than `length` units. */
function nextLonger(text: string, length: number, fromEnd: boolean): string {
  const longer = (units: number) =>
    fromEnd ? text.slice(text.length - length - units) : text.slice(0, length + units);
  const edge = fromEnd ? text.length - length - 1 : length + 1;
  const splits =
    isHighSurrogate(text.charCodeAt(edge - 1)) && isLowSurrogate(text.charCodeAt(edge));
  return longer(splits ? 2 : 1);
}

describe('isNestedTooDeeply', () => {
  const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;

  test('allows 128 levels and no more', () => {
    expect(isNestedTooDeeply(nested(maxJsonDepth))).toBe(false);
    expect(isNestedTooDeeply(nested(maxJsonDepth + 1))).toBe(true);
    expect(isNestedTooDeeply('text')).toBe(false);
  });

  test('answers for any depth, and for a cycle', () => {
    expect(isNestedTooDeeply(nested(1_000_000))).toBe(true);
    const cycle: { self?: unknown } = {};
    cycle.self = [cycle];
    expect(isNestedTooDeeply(cycle)).toBe(true);
  });
});
