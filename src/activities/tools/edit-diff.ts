// The unified diff of an edit, for people. The replacements are known, so nothing has to be compared
// but the lines they touch.

import { lineAt } from './text-edit.js';
import type { Replacement } from './text-edit.js';

const contextLines = 3;
const maxDiffLength = 16 * 1024;
/** Replacements that are shown; an edit of more is told by its count. */
const maxShown = 200;

/** Old lines `from` … `from + removed.length - 1` (from 1) and what stands in their place. */
interface Change {
  readonly from: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export function editDiff(path: string, text: string, replacements: readonly Replacement[]): string {
  const lines = toLines(text);
  const changes = toChanges(text, replacements.slice(0, maxShown));
  const parts = [`--- ${path}`, `+++ ${path}`];
  let shift = 0;
  for (const hunk of toHunks(changes)) {
    parts.push(hunkText(lines, hunk, shift));
    for (const change of hunk) shift += change.added.length - change.removed.length;
  }
  const diff = parts.join('\n');
  const whole = diff.length <= maxDiffLength && replacements.length <= maxShown;
  return whole ? diff : `${diff.slice(0, maxDiffLength)}\n… (the rest of the diff is left out)`;
}

/** The first changed line, from 1. */
export function firstChangedLine(text: string, replacements: readonly Replacement[]): number {
  return toChanges(text, replacements.slice(0, 1))[0]?.from ?? 1;
}

function toLines(text: string): readonly string[] {
  return text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

/** Replacements that touch the same line become one change; lines that stay the same are taken off. */
function toChanges(text: string, replacements: readonly Replacement[]): readonly Change[] {
  const changes: Change[] = [];
  let index = 0;
  while (index < replacements.length) {
    const first = replacements[index];
    if (first === undefined) break;
    const start = startOfLine(text, first.start);
    let added = text.slice(start, first.start) + first.text;
    let position = first.end;
    let end = endOfLine(text, position);
    for (index += 1; index < replacements.length; index++) {
      const next = replacements[index];
      if (next === undefined || next.start > end) break;
      added += text.slice(position, next.start) + next.text;
      position = next.end;
      end = endOfLine(text, position);
    }
    added += text.slice(position, end);
    const removed = toLines(text.slice(start, end));
    changes.push(trimChange({ from: lineAt(text, start), removed, added: toLines(added) }));
  }
  return changes;
}

function startOfLine(text: string, position: number): number {
  // Before the first character there is nothing; `lastIndexOf` would look at that character.
  return position === 0 ? 0 : text.lastIndexOf('\n', position - 1) + 1;
}

function endOfLine(text: string, position: number): number {
  const end = text.indexOf('\n', position);
  return end === -1 ? text.length : end;
}

function trimChange({ from, removed, added }: Change): Change {
  const shorter = Math.min(removed.length, added.length);
  let before = 0;
  while (before < shorter && removed[before] === added[before]) before += 1;
  let after = 0;
  while (after < shorter - before && removed.at(-1 - after) === added.at(-1 - after)) after += 1;
  return {
    from: from + before,
    removed: removed.slice(before, removed.length - after),
    added: added.slice(before, added.length - after),
  };
}

function toHunks(changes: readonly Change[]): readonly (readonly Change[])[] {
  const hunks: Change[][] = [];
  let end = -Infinity;
  for (const change of changes) {
    const hunk = hunks.at(-1);
    if (hunk !== undefined && change.from - end <= 2 * contextLines) hunk.push(change);
    else hunks.push([change]);
    end = change.from + change.removed.length;
  }
  return hunks;
}

function hunkText(lines: readonly string[], hunk: readonly Change[], shift: number): string {
  const from = Math.max(1, (hunk[0]?.from ?? 1) - contextLines);
  const output: string[] = [];
  let line = from;
  const copyUntil = (end: number) => {
    for (; line < end && line <= lines.length; line++) output.push(` ${lines[line - 1]}`);
  };
  for (const change of hunk) {
    copyUntil(change.from);
    output.push(
      ...change.removed.map((text) => `-${text}`),
      ...change.added.map((text) => `+${text}`),
    );
    line += change.removed.length;
  }
  copyUntil(line + contextLines);
  const count = (mark: string) => output.filter((text) => !text.startsWith(mark)).length;
  return [`@@ -${from},${count('+')} +${from + shift},${count('-')} @@`, ...output].join('\n');
}
