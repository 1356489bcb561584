// docs/guarantees.md names tests by file and sentence: both must exist.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const file = (path: string) =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').replaceAll("\\'", "'");

const rows = file('docs/guarantees.md')
  .split('\n')
  .flatMap((line) => {
    const match = /^\| (.+) \| `(test\/.+)` \|$/.exec(line);
    return match === null ? [] : [[match[1] ?? '', match[2] ?? ''] as const];
  });

describe('docs/guarantees.md', () => {
  test('names tests for every promise', () => {
    expect(rows.length).toBeGreaterThan(30);
  });

  test.each(rows)('the test "%s" is in %s', (sentence, path) => {
    const source = file(path);
    const parts = sentence.split(/ › |…/).map((part) => part.trim());
    for (const part of parts.filter((text) => text !== '')) expect(source).toContain(part);
  });
});
