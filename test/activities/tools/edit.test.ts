import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createToolWorld } from './tool-world.js';

async function editOf(before: string | Buffer, args: { [name: string]: string | boolean }) {
  await using world = await createToolWorld();
  const path = join(world.root, 'a.txt');
  await writeFile(path, before);
  const answer = await world.run('edit', { path: 'a.txt', ...args });
  return { ...answer, after: await readFile(path, 'utf8') };
}

describe('edit', () => {
  test('replaces the one passage and says at which line', async () => {
    const edited = await editOf('one\ntwo\nthree\n', { oldText: 'two', newText: '2' });
    expect(edited).toMatchObject({
      after: 'one\n2\nthree\n',
      text: 'Edited a.txt at line 2.',
      isError: false,
    });
  });

  test('the text goes in as it is, also where it looks like a pattern', async () => {
    const edited = await editOf('a.b a+b\n', { oldText: 'a+b', newText: '$& $1 \\n' });
    expect(edited.after).toBe('a.b $& $1 \\n\n');
  });

  test('an ambiguous passage is refused, with the lines where it is', async () => {
    const text = 'x\nsame\ny\nsame\nz\nsame\n';
    const edited = await editOf(text, { oldText: 'same', newText: 'other' });
    expect(edited).toMatchObject({ isError: true, after: text });
    expect(edited.text).toMatch(/occurs 3 times in a\.txt, at lines 2, 4, 6; nothing was changed/);
  });

  test('places that overlap are ambiguous too', async () => {
    const edited = await editOf('aaa', { oldText: 'aa', newText: 'b' });
    expect(edited).toMatchObject({ isError: true, after: 'aaa' });
  });

  test('many places are counted, ten are told', async () => {
    const edited = await editOf('same\n'.repeat(25), { oldText: 'same', newText: 'x' });
    expect(edited.text).toMatch(/occurs 25 times .* 9, 10 and 15 more/);
  });

  test('replaceAll changes every place', async () => {
    const edited = await editOf('a b a\na\n', { oldText: 'a', newText: 'aa', replaceAll: true });
    expect(edited).toMatchObject({ after: 'aa b aa\naa\n', isError: false });
    expect(edited.text).toMatch(/3 occurrences replaced, the first at line 1/);
  });

  test('ten thousand places in a file of megabytes are replaced', async () => {
    const text = `${'filler '.repeat(40)}same\n`.repeat(10_000);
    const edited = await editOf(text, { oldText: 'same', newText: 'other', replaceAll: true });
    expect(edited.after).toBe(text.replaceAll('same', 'other'));
  });

  test.each([
    [
      'only in whitespace',
      'if (a) {\n\treturn 1;\n}\n',
      'if (a) {\n    return 1;\n}',
      /differs only in whitespace begins at line 1: "if \(a\) \{\\n\\treturn 1;\\n\}"/,
    ],
    ['in quotes', 'x\nsay “hi”\n', 'say "hi"', /differs only in quotes.* line 2/],
    [
      'behind the first line',
      'x\nfirst line\nsecond\n',
      'first line\nother',
      /first line of oldText is at line 2/,
    ],
    ['already replaced', 'x\nnew text\n', 'old text', /newText already stands at line 2/],
    [
      'altogether',
      'x\n',
      'nothing like it',
      /does not occur in a\.txt; nothing was changed\. Read the file first/,
    ],
  ])('a passage that differs %s is refused with a hint', async (_, before, oldText, hint) => {
    const edited = await editOf(before, { oldText, newText: 'new text' });
    expect(edited).toMatchObject({ isError: true, after: before });
    expect(edited.text).toMatch(hint);
  });

  test('a file with CRLF is matched by text with LF and keeps its line breaks', async () => {
    const edited = await editOf('one\r\ntwo\r\nthree\r\nfour\r\n', {
      oldText: 'two\nthree\n',
      newText: '2\n2.5\n3\n',
    });
    expect(edited.after).toBe('one\r\n2\r\n2.5\r\n3\r\nfour\r\n');
  });

  test('in a file of both kinds, only the passage changes', async () => {
    const edited = await editOf('a\r\nb\nc\r\nd\r\n', { oldText: 'b\nc', newText: 'B\nX\nc' });
    expect(edited.after).toBe('a\r\nB\nX\nc\r\nd\r\n');
  });

  test('a passage given with CRLF is found in a file with LF and leaves LF', async () => {
    const edited = await editOf('a\nb\nc\n', { oldText: 'a\r\nb', newText: 'A\r\nB' });
    expect(edited.after).toBe('A\nB\nc\n');
  });

  test('a byte order mark stays and does not stand in the way', async () => {
    const edited = await editOf('\ufeffone\r\ntwo\r\n', { oldText: 'one\n', newText: '1\n' });
    expect(edited.after).toBe('\ufeff1\r\ntwo\r\n');
  });

  test('a file that is not UTF-8 is refused and stays as it is', async () => {
    await using world = await createToolWorld();
    const path = join(world.root, 'latin.txt');
    const bytes = Buffer.from('caf\xe9 one\n', 'latin1');
    await writeFile(path, bytes);
    const answer = await world.run('edit', { path: 'latin.txt', oldText: 'one', newText: 'two' });
    expect(answer.text).toMatch(/not text in UTF-8/);
    expect(await readFile(path)).toEqual(bytes);
  });

  test.each([
    ['empty', '', 'x', /oldText is empty/],
    ['equal', 'one', 'one', /nothing to do/],
  ])('an edit that is %s is refused', async (_, oldText, newText, text) => {
    const edited = await editOf('one\n', { oldText, newText });
    expect(edited.isError).toBe(true);
    expect(edited.text).toMatch(text);
  });

  test('a passage may be removed', async () => {
    const edited = await editOf('one\ntwo\n', { oldText: 'one\n', newText: '' });
    expect(edited.after).toBe('two\n');
  });

  test('the mode stays', async () => {
    await using world = await createToolWorld();
    const path = join(world.root, 'run.sh');
    await writeFile(path, 'one');
    await chmod(path, 0o755);
    await world.run('edit', { path: 'run.sh', oldText: 'one', newText: 'two' });
    expect((await stat(path)).mode & 0o777).toBe(0o755);
  });

  test('details carry a unified diff for people', async () => {
    const before = Array.from({ length: 12 }, (_, index) => `l${index + 1}\n`).join('');
    const edited = await editOf(before, { oldText: 'l5\nl6', newText: 'l5\nnew\nl6!' });
    expect(edited.details).toEqual({
      path: 'a.txt',
      replacements: 1,
      firstChangedLine: 6,
      diff: [
        '--- a.txt',
        '+++ a.txt',
        '@@ -3,7 +3,8 @@',
        ' l3',
        ' l4',
        ' l5',
        '-l6',
        '+new',
        '+l6!',
        ' l7',
        ' l8',
        ' l9',
      ].join('\n'),
    });
  });

  test('the diff of an edit at the very beginning shows an empty first line', async () => {
    const edited = await editOf('\na\n', { oldText: '\na', newText: 'a' });
    expect(edited.details).toMatchObject({
      firstChangedLine: 1,
      diff: ['--- a.txt', '+++ a.txt', '@@ -1,3 +1,2 @@', '-', ' a', ' '].join('\n'),
    });
  });

  test('the diff of several places has a hunk for each that is far from the others', async () => {
    const before = Array.from(
      { length: 30 },
      (_, i) => `${[1, 3, 20].includes(i) ? 'same' : `l${i}`}\n`,
    );
    const edited = await editOf(before.join(''), {
      oldText: 'same',
      newText: 'a\nb',
      replaceAll: true,
    });
    const diff = String(edited.details['diff']);
    expect(diff.match(/^@@ .* @@$/gm)).toEqual(['@@ -1,7 +1,9 @@', '@@ -18,7 +20,8 @@']);
    expect(diff.match(/^-same$/gm)).toHaveLength(3);
  });
});
