import { describe, expect, test } from 'vitest';
import { digestOf as digestOnWorker } from '../../src/activities/digest.js';
import { digestOf } from '../../src/workflows/digest.js';

describe('digestOf', () => {
  test('tells apart what differs in a type, a field or an order of items', () => {
    const values = [
      null,
      '',
      0,
      false,
      [],
      {},
      [null],
      [[]],
      '0',
      'null',
      { a: null },
      { a: 1 },
      { a: '1' },
      [1, 2],
      [2, 1],
      ['1,2'],
      '\ud800',
      '\udc00',
      '\ufffd',
      JSON.parse('{"__proto__":1}') as unknown,
    ];
    expect(new Set(values.map((value) => digestOf(value))).size).toBe(values.length);
  });

  test.each([0, 1, 55, 56, 63, 64, 65, 119, 1_000_000])(
    'agrees for a text of %i bytes, around the blocks of the hash',
    (length) => {
      const text = 'x'.repeat(length);
      expect(digestOf(text)).toBe(digestOnWorker(text));
      expect(digestOf(text)).toMatch(/^[\w-]{22}$/);
    },
  );
});
