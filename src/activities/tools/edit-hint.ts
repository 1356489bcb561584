// Why a passage was not found: what a model most often gets wrong, and where the file has it.

import { lineAt } from './text-edit.js';

/** Files longer than this are not searched for near matches. */
const maxSearchedLength = 2_000_000;

/** A sentence that helps to find the passage; undefined when nothing in the text is like it. */
export function absenceHint(text: string, oldText: string, newText: string): string | undefined {
  if (text.length > maxSearchedLength) return undefined;
  const lines = text.split(/\r?\n/);
  const wanted = trimBlankEnds(oldText.split(/\r?\n/));
  if (wanted.length === 0) return undefined;

  const spaced = findLines(lines, wanted, withoutSpaces);
  if (spaced !== undefined) {
    return `A passage that differs only in whitespace begins at line ${spaced}: ${quote(lines, spaced, wanted.length)}`;
  }
  const plain = findLines(lines, wanted, (line) => withoutSpaces(plainCharacters(line)));
  if (plain !== undefined) {
    return `A passage that differs only in quotes, dashes, letter case or whitespace begins at line ${plain}: ${quote(lines, plain, wanted.length)}`;
  }
  if (newText.trim() !== '' && text.includes(newText)) {
    return `newText already stands at line ${lineAt(text, text.indexOf(newText))}, so the edit may have been made before.`;
  }
  const first = findLines(lines, wanted.slice(0, 1), withoutSpaces);
  return first === undefined
    ? undefined
    : `The first line of oldText is at line ${first}, but what follows there is different.`;
}

/** The line, from 1, where `wanted` begins when both sides are seen through `normalise`. */
function findLines(
  lines: readonly string[],
  wanted: readonly string[],
  normalise: (line: string) => string,
): number | undefined {
  const haystack = lines.map((line) => normalise(line));
  const needle = wanted.map((line) => normalise(line));
  if (needle.every((line) => line === '')) return undefined;
  // The passage may begin and end inside a line.
  const matches = (line: string, index: number) => {
    const expected = needle[index] ?? '';
    if (needle.length === 1) return line.includes(expected);
    if (index === 0) return line.endsWith(expected);
    return index === needle.length - 1 ? line.startsWith(expected) : line === expected;
  };
  for (let start = 0; start + needle.length <= haystack.length; start++) {
    if (needle.every((_, index) => matches(haystack[start + index] ?? '', index))) return start + 1;
  }
  return undefined;
}

function withoutSpaces(line: string): string {
  return line.replace(/\s+/g, '');
}

function plainCharacters(line: string): string {
  return line
    .normalize('NFKC')
    .replace(/[\u2018\u2019\u201a\u201b`]/g, "'")
    .replace(/[\u201c\u201d\u201e\u201f]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .toLowerCase();
}

function trimBlankEnds(lines: readonly string[]): readonly string[] {
  const from = lines.findIndex((line) => line.trim() !== '');
  const to = lines.findLastIndex((line) => line.trim() !== '');
  return from === -1 ? [] : lines.slice(from, to + 1);
}

/** The lines as JSON, so that tabs and spaces can be told apart. */
function quote(lines: readonly string[], from: number, count: number): string {
  const text = lines.slice(from - 1, from - 1 + count).join('\n');
  return JSON.stringify(text.length > 400 ? `${text.slice(0, 400)}…` : text);
}
