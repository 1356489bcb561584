import { describe, expect, test } from 'vitest';
import { plainValue } from '../../src/protocol/plain-value.js';

// oxlint-disable-next-line no-sparse-arrays -- a hole is what is tested
const listWithHole = [1, , 2];

describe('plainValue', () => {
  test.each<[string, unknown, unknown]>([
    ['a hole in a list', { list: listWithHole }, { list: [1, null, 2] }],
    ['undefined in a list', [undefined, () => 1], [null, null]],
    ['a list of nothing but holes', Array(2), [null, null]],
    ['minus zero', [-0], [0]],
    ['NaN', [Number.NaN, Infinity], [null, null]],
  ])('%s is what JSON writes for it', (_, value, plain) => {
    expect(plainValue(value)).toStrictEqual(plain);
  });
});
