import { describe, expect, test } from 'vitest';
import { durationProblem, toDurationText, toMilliseconds } from '../../src/protocol/duration.js';

describe('durations', () => {
  test.each<[string | number, number]>([
    [1, 1],
    [1_500.4, 1_500],
    ['250ms', 250],
    ['1 second', 1_000],
    ['1.5 s', 1_500],
    ['90 secs', 90_000],
    ['30 minutes', 1_800_000],
    [' 2 Hours ', 7_200_000],
    ['2h', 7_200_000],
    ['1 day', 86_400_000],
    ['3660 days', 316_224_000_000],
  ])('%j is %i ms', (value, ms) => {
    expect(durationProblem(value, 'idleTimeout')).toBeUndefined();
    expect(toMilliseconds(value)).toBe(ms);
  });

  test.each<[unknown]>([
    [0],
    [-0],
    [-1],
    [0.5],
    [Number.NaN],
    [Infinity],
    [3661 * 86_400_000],
    [''],
    ['5'],
    ['minutes'],
    ['five minutes'],
    ['-3 hours'],
    ['1e3 s'],
    ['1,5 s'],
    ['5 parsecs'],
    ['5 mss'],
    ['5 ss'],
    ['5 hs'],
    ['5 constructor'],
    ['5 toStrings'],
    ['5 __proto__s'],
    ['1 hour 30 minutes'],
    ['0.0001 ms'],
    [`${'9'.repeat(400)} s`],
    ['3661 days'],
    [null],
    [true],
    [[]],
    [['1 s']],
    [{}],
  ])('%j is refused in one sentence that names the field', (value) => {
    expect(durationProblem(value, 'idleTimeout')).toMatch(
      /^idleTimeout: expected milliseconds or a text like "30 minutes", got .{1,61}\.$/s,
    );
  });

  test.each([
    `1${' '.repeat(200_000)}!`,
    `${'1'.repeat(200_000)}!`,
    `${' '.repeat(200_000)}x`,
    `1 ${'a'.repeat(200_000)}!`,
  ])('a long text is refused without backtracking for ever: %#', (value) => {
    expect(durationProblem(value, 'idleTimeout')).toContain('idleTimeout');
  });
});

test.each([
  [86_400_000, '1 day'],
  [3_600_000, '1 hour'],
  [5_400_000, '90 minutes'],
  [600_000, '10 minutes'],
  [60_000, '1 minute'],
  [90_000, '90 seconds'],
  [1_500, '1500 ms'],
])('%d milliseconds are told as %s', (ms, text) => {
  expect(toDurationText(ms)).toBe(text);
});
