import { describe, expect, test } from 'vitest';
import { digestOf as digestOnWorker } from '../../src/activities/digest.js';
import { digestOf } from '../../src/workflows/digest.js';
import { randomJson, shuffled } from '../support/random-json.js';
import { createRandom } from '../support/random.js';

describe('digestOf', () => {
  test('gives in the workflow what it gives on the worker, for random JSON', () => {
    const random = createRandom(11);
    for (let i = 0; i < 2_000; i++) {
      const value = randomJson(random);
      expect(digestOf(value)).toBe(digestOnWorker(value));
    }
  });

  test('of a value in memory is that of the value the other side decodes', () => {
    const random = createRandom(12);
    for (let i = 0; i < 1_000; i++) {
      const value = {
        value: randomJson(random),
        missing: undefined,
        when: new Date(random.below(1e9)),
        list: [undefined, Number.NaN, -0, 1e21, () => 1],
      };
      const decoded = JSON.parse(JSON.stringify(value)) as unknown;
      expect(digestOnWorker(value)).toBe(digestOf(decoded));
    }
  });

  test('does not depend on the order in which fields were set', () => {
    const random = createRandom(13);
    for (let i = 0; i < 500; i++) {
      const value = randomJson(random);
      expect(digestOf(shuffled(value, random))).toBe(digestOf(value));
    }
  });

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
