import { describe, expect, test } from 'vitest';
import {
  cutUtf8,
  isNestedTooDeeply,
  jsonSize,
  maxJsonDepth,
  toCanonicalJson,
  utf8Length,
} from '../../src/protocol/json.js';

const bytesOf = (text: string) => Buffer.byteLength(text, 'utf8');

// oxlint-disable-next-line no-sparse-arrays -- a hole is what is tested
const listWithHole = [undefined, , 1];

describe('toCanonicalJson', () => {
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
  test('is 0 for what JSON leaves out', () => {
    expect(jsonSize(undefined)).toBe(0);
  });
});

describe('cutUtf8', () => {
  test.each([0, -1])('leaves nothing of a text for %i bytes', (maxBytes) => {
    expect(cutUtf8('text', maxBytes)).toBe('');
    expect(cutUtf8('text', maxBytes, true)).toBe('');
  });
});

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
