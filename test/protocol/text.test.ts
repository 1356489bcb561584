import { describe as group, expect, test } from 'vitest';
import { describe, excerpt, fieldName } from '../../src/protocol/text.js';

/** What survives UTF-8 unchanged has no lone surrogate. */
const survivesUtf8 = (text: string) => Buffer.from(text, 'utf8').toString('utf8') === text;

group('excerpt', () => {
  test('drops the half of a pair that the cut left', () => {
    expect(excerpt('ab🦉cd', 3)).toBe('ab…');
    expect(excerpt('ab🦉cd', 4)).toBe('ab🦉…');
  });
});

group('describe(value)', () => {
  test.each<[unknown, string]>([
    [undefined, 'nothing'],
    [null, 'null'],
    [[1], 'a list'],
    [{ a: 1 }, 'an object'],
    [true, 'true'],
    [-0, '0'],
    [Infinity, 'Infinity'],
    ['', '""'],
    ['x', '"x"'],
  ])('%j is %s', (value, text) => {
    expect(describe(value)).toBe(text);
  });

  test.each(['🦉'.repeat(1_000_000), 'x'.repeat(59) + '🦉', '\ud800'.repeat(100), '"'.repeat(500)])(
    'is short and well-formed for any string: %#',
    (text) => {
      expect(describe(text).length).toBeLessThanOrEqual(61);
      expect(survivesUtf8(describe(text))).toBe(true);
    },
  );
});

group('fieldName', () => {
  test.each([
    ['prompt', 'prompt'],
    ['__proto__', '__proto__'],
    ['', '""'],
    [' a', '" a"'],
    ['a: b', '"a: b"'],
  ])('%j is shown as %s', (field, shown) => {
    expect(fieldName(field)).toBe(shown);
  });

  test('is short for any name', () => {
    expect(fieldName('x'.repeat(1_000_000)).length).toBeLessThanOrEqual(61);
  });
});
