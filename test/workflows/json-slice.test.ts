import { describe, expect, test } from 'vitest';
import { cutEscaped, jsonSlice } from '../../src/workflows/json-slice.js';

const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text), 'utf8');

function slicesOf(value: unknown, maxBytes: number): readonly string[] {
  const slices: string[] = [];
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const { text, end } = jsonSlice(value, offset, maxBytes);
    slices.push(text);
    offset = end;
  }
  return slices;
}

describe('jsonSlice', () => {
  test.each(['"', '\\', '\u0000', '🦉', '\ud800', 'ü', 'x', '漢"'])(
    'a long text of nothing but %j comes in few slices',
    (piece) => {
      const text = piece.repeat(100_000);
      const slices = slicesOf(text, 10_000);
      expect(JSON.parse(slices.join(''))).toBe(text);
      expect(Math.max(...slices.map(bytesOf))).toBeLessThanOrEqual(10_000);
      // Each is at least two thirds full.
      expect(slices.length).toBeLessThan((1.5 * bytesOf(slices.join(''))) / 10_000 + 1);
    },
  );

  test('no slice ends inside a surrogate pair', () => {
    const slices = slicesOf('🦉'.repeat(5_000), 1_001);
    expect(slices.every((slice) => Buffer.from(slice).toString() === slice)).toBe(true);
  });

  test('an offset beyond the end is the end', () => {
    expect(jsonSlice('abc', 5, 100)).toEqual({ text: '', end: undefined });
    expect(jsonSlice('abc', 1e15, 100)).toEqual({ text: '', end: undefined });
  });
});

describe('cutEscaped', () => {
  test('leaves a text that fits as it is', () => {
    expect(cutEscaped('"quoted"', bytesOf('"quoted"'))).toBe('"quoted"');
  });
});
