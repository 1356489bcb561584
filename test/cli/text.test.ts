import { describe, expect, test } from 'vitest';
import { createTerminal, mayColour } from '../../src/cli/terminal.js';
import {
  cutToColumns,
  toDuration,
  toOneLine,
  toPlainText,
  toTable,
  widthOf,
} from '../../src/cli/text.js';

describe('toPlainText', () => {
  test('nothing a model or tool writes can steer the terminal', () => {
    expect(toPlainText('a\u001b[31mb\u0007\u009b2Jc\r\nd\te')).toBe('a[31mb2Jc\nd\te');
  });
});

describe('cutToColumns', () => {
  test.each([
    ['short', 10, 'short'],
    ['exactly ten', 11, 'exactly ten'],
    ['one too long', 11, 'one too lo…'],
    ['日本語の文字', 7, '日本語…'],
    ['😀😀😀', 5, '😀😀…'],
  ])('%s in %i columns', (line, columns, expected) => {
    expect(cutToColumns(line, columns)).toBe(expected);
    expect(widthOf(cutToColumns(line, columns))).toBeLessThanOrEqual(columns);
  });
});

describe('toOneLine', () => {
  test('white space of any kind becomes one space', () => {
    expect(toOneLine('  a\n\n\tb\r\nc ')).toBe('a b c');
  });
});

describe('toTable', () => {
  test('columns are aligned and lines cut to the width', () => {
    const table = toTable(
      [
        ['ID', 'SUMMARY'],
        ['a-long-id', 'Tidy the whole changelog'],
        ['短い', 'x'],
      ],
      24,
    );
    expect(table).toBe('ID         SUMMARY\na-long-id  Tidy the who…\n短い       x\n');
  });
});

describe('toDuration', () => {
  test.each([
    [350, '350 ms'],
    [3_000, '3 s'],
    [300_000, '5 min'],
  ])('%i ms are %s', (milliseconds, text) => expect(toDuration(milliseconds)).toBe(text));
});

describe('mayColour', () => {
  test.each([
    [true, {}, true],
    [false, {}, false],
    [undefined, { CI: 'true' }, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
  ])('terminal %s with %o: %s', (isTty, env, expected) => {
    expect(mayColour(isTty, env)).toBe(expected);
  });
});

describe('a note', () => {
  test.each([
    ['holdfast', 'Start one with `npm run -s holdfast -- dev`.\n'],
    ['test', 'Start one with `holdfast dev`.\n'],
  ])('names commands as the user calls them: npm script %s', (script, expected) => {
    const written: string[] = [];
    const stream = { write: (text: string) => written.push(text), on: () => {} };
    const terminal = createTerminal({
      stdout: stream as unknown as NodeJS.Process['stdout'],
      stderr: stream as unknown as NodeJS.Process['stderr'],
      env: { npm_lifecycle_event: script },
    });
    terminal.note('Start one with `holdfast dev`.');
    expect(written).toEqual([expected]);
  });
});
