// What built-in tools make of texts: edits and their diffs, output in pieces, ranges of lines, bounded results.

import type { FileHandle } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/activities/secrets.js';
import { CommandOutput } from '../../src/activities/tools/command-output.js';
import { editDiff } from '../../src/activities/tools/edit-diff.js';
import { absenceHint } from '../../src/activities/tools/edit-hint.js';
import { readLines } from '../../src/activities/tools/line-reader.js';
import type { OutputFile } from '../../src/activities/tools/output-file.js';
import { boundResult } from '../../src/activities/tools/result-bounds.js';
import { editText } from '../../src/activities/tools/text-edit.js';
import { toToolResult } from '../../src/activities/tools/tool-output.js';
import type { ToolResult } from '../../src/protocol/activities.js';
import { jsonSize, utf8Length } from '../../src/protocol/json.js';
import type { UserContent } from '../../src/protocol/messages.js';
import { isReadableToolResult } from '../../src/workflows/readable-results.js';
import { holds } from './cases.js';
import { anyJson, anyText, longText, received } from './json-values.js';
import { cutBytes } from './provider-calls.js';

/** Few lines of few characters, so that passages repeat. */
const fileText = fc
  .array(
    fc.constantFrom('a', 'b', 'ab', 'A', ' ', '\t', '\n', '\n', '\r\n', '\r', 'ü', '“', '🦉'),
    {
      maxLength: 30,
    },
  )
  .map((parts) => parts.join(''));

/** An edit whose passage mostly stands in the text. */
const edit = fc
  .tuple(fileText, fc.nat(60), fc.nat(8), fileText, fc.boolean(), fc.boolean(), fc.boolean())
  .map(([text, from, length, newText, replaceAll, elsewhere, withLineFeeds]) => {
    const start = from % (text.length + 1);
    const passage = elsewhere && length < 2 ? newText : text.slice(start, start + 1 + length);
    const oldText = withLineFeeds ? passage.replaceAll('\r\n', '\n') : passage;
    return { text, edit: { oldText, newText, replaceAll } };
  })
  .filter(({ edit: { oldText, newText } }) => oldText !== '' && oldText !== newText);

const lineFeeds = (text: string) => text.replaceAll('\r\n', '\n');

describe('an edit', () => {
  test(
    'replaces the passage where it stands once, or everywhere, and nothing else',
    holds(
      fc.property(edit, ({ text, edit: wanted }) => {
        const outcome = editText(text, wanted);
        const [seen, oldText] = [lineFeeds(text), lineFeeds(wanted.oldText)];
        const places = placesOf(seen, oldText);
        if (places.length === 0) {
          expect(outcome).toEqual({ kind: 'absent' });
          return;
        }
        if (places.length > 1 && !wanted.replaceAll) {
          const lines = places.map((at) => seen.slice(0, at).split('\n').length);
          expect(outcome).toEqual({
            kind: 'ambiguous',
            count: places.length,
            lines: lines.slice(0, 10),
          });
          return;
        }
        if (outcome.kind !== 'edited') throw new Error(outcome.kind);
        // Line breaks apart, it is what replacing in the text as the model sees it gives; a return on its own
        // may come to stand before a line feed.
        const lone = /\r(?!\n)/;
        const hasLone = lone.test(text) || lone.test(wanted.newText);
        if (!hasLone)
          expect(lineFeeds(outcome.text)).toBe(
            wanted.replaceAll
              ? seen.split(oldText).join(lineFeeds(wanted.newText))
              : seen.replace(oldText, () => lineFeeds(wanted.newText)),
          );
        // What is not replaced stays byte for byte.
        let position = 0;
        let rebuilt = '';
        for (const { start, end, text: put } of outcome.replacements) {
          expect(lineFeeds(text.slice(start, end))).toBe(oldText);
          rebuilt += text.slice(position, start) + put;
          position = end;
        }
        expect(outcome.text).toBe(rebuilt + text.slice(position));
      }),
    ),
  );

  test(
    'is shown as a diff that makes the new lines of the old ones',
    holds(
      fc.property(edit, ({ text, edit: wanted }) => {
        const outcome = editText(text, { ...wanted, replaceAll: true });
        if (outcome.kind !== 'edited') return;
        const diff = editDiff('file.txt', text, outcome.replacements);
        expect(applyDiff(linesOf(text), diff)).toEqual(linesOf(outcome.text));
      }),
    ),
  );

  test(
    'that finds nothing is helped by a short hint about a line that is there',
    holds(
      fc.property(edit, ({ text, edit: { oldText, newText } }) => {
        const hint = absenceHint(text, oldText, newText);
        if (hint === undefined) return;
        expect(hint.length).toBeLessThan(1_000);
        const line = Number(/line (\d+)/.exec(hint)?.[1]);
        expect(line).toBeGreaterThanOrEqual(1);
        expect(line).toBeLessThanOrEqual(text.split('\n').length);
      }),
    ),
  );
});

/** Where it begins; overlapping places count. */
function placesOf(text: string, passage: string): readonly number[] {
  return Array.from({ length: text.length }, (_, at) => at).filter((at) =>
    text.startsWith(passage, at),
  );
}

const linesOf = (text: string) => text.split('\n').map((line) => line.replace(/\r$/, ''));

/** Reads a unified diff as `patch` does, and applies it. */
function applyDiff(lines: readonly string[], diff: string): readonly string[] {
  const [before, after, ...rest] = diff.split('\n');
  expect([before, after]).toEqual(['--- file.txt', '+++ file.txt']);
  const result: string[] = [];
  let at = 0;
  let removed = 0;
  let added = 0;
  for (const line of rest) {
    const header = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(line);
    if (header !== null) {
      expect([removed, added]).toEqual([0, 0]);
      const [from = 0, oldCount = 0, to = 0, newCount = 0] = header.slice(1).map(Number);
      const start = oldCount === 0 ? from : from - 1;
      result.push(...lines.slice(at, start));
      at = start;
      expect(newCount === 0 ? to : to - 1).toBe(result.length);
      removed = oldCount;
      added = newCount;
      continue;
    }
    const content = line.slice(1);
    if (line[0] === ' ' || line[0] === '-') {
      expect(content).toBe(lines[at]);
      at += 1;
      removed -= 1;
    }
    if (line[0] === ' ' || line[0] === '+') {
      result.push(content);
      added -= 1;
    }
  }
  expect([removed, added]).toEqual([0, 0]);
  return [...result, ...lines.slice(at)];
}

const bytes = fc.oneof(
  fc
    .array(fc.oneof(anyText, longText(400), fc.constant('\n')), { maxLength: 8 })
    .map((parts) => Buffer.from(parts.join(''))),
  fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
);
const cuts = fc.array(fc.nat(3_000), { minLength: 1, maxLength: 12 });

describe('the output of a command', () => {
  test(
    'is whole, or its end with a file that has all of it, wherever it was cut into pieces',
    holds(
      fc.asyncProperty(
        bytes,
        cuts,
        fc.integer({ min: 1, max: 1_500 }),
        fc.constantFrom('file', 'none', 'full'),
        async (output, at, maxBytes, disk) => {
          let live = '';
          let kept = '';
          const file = {
            path: '.holdfast/output/c.log',
            complete: true,
            append: (text: string) => {
              if (disk === 'full' && kept.length > 50) return Promise.reject(new Error('ENOSPC'));
              kept += text;
              return Promise.resolve();
            },
            close: () => Promise.resolve(),
          };
          const command = new CommandOutput({
            maxBytes,
            redacting: createRedactor().stream(),
            show: (text) => (live += text),
            createFile: () =>
              disk === 'none'
                ? Promise.reject(new Error('EROFS'))
                : Promise.resolve(file as unknown as OutputFile),
          });
          for (const piece of cutBytes(output, at)) await command.write(piece);
          const collected = await command.end();
          const whole = new TextDecoder('utf-8', { ignoreBOM: true }).decode(output);
          expect(live).toBe(whole);
          expect(collected.bytes).toBe(Buffer.byteLength(whole));
          if (Buffer.byteLength(whole) <= maxBytes) {
            expect(collected).toEqual({ text: whole, bytes: collected.bytes });
            return;
          }
          const [note = '', ...rest] = collected.text.split('\n');
          const tail = rest.join('\n');
          expect(whole.endsWith(tail)).toBe(true);
          expect(note).toMatch(/^\[.* of output before this are left out/);
          expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(maxBytes);
          if (disk === 'file') expect(kept).toBe(whole);
          if (disk === 'none') expect(collected.file).toBeUndefined();
          if (maxBytes >= 600)
            expect(Buffer.byteLength(collected.text)).toBeLessThanOrEqual(maxBytes);
        },
      ),
    ),
  );
});

describe('a range of lines', () => {
  /** A file that gives its bytes as a disk may: fewer than were asked for. */
  function fileOf(content: Buffer, most: number): FileHandle {
    return {
      read: (target: Buffer, _: number, length: number, position: number) => {
        const bytesRead = content.copy(target, 0, position, position + Math.min(length, most));
        return Promise.resolve({ bytesRead });
      },
    } as unknown as FileHandle;
  }

  test(
    'is whole lines, cut to what may be shown, of any bytes',
    holds(
      fc.asyncProperty(
        bytes,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 4, max: 600 }),
        fc.integer({ min: 1, max: 900 }),
        async (content, from, maxLines, maxBytes, most) => {
          const range = await readLines(fileOf(content, most), { from, maxLines, maxBytes });
          const lines = linesWithBreaks(content);
          const wanted = lines.slice(from - 1, from - 1 + maxLines);
          const all = Buffer.concat(wanted);
          expect(all.subarray(0, range.bytes.length)).toEqual(range.bytes);
          expect(range.bytes.length).toBeLessThanOrEqual(maxBytes);
          if (all.length <= maxBytes) expect(range.bytes).toEqual(all);
          const shown = linesWithBreaks(range.bytes);
          expect(range.lines).toBe(shown.length);
          if (range.cutLine) {
            expect((wanted[0]?.length ?? 0) > maxBytes).toBe(true);
            expect(range.bytes.length).toBeGreaterThan(maxBytes - 4);
          } else expect(shown).toEqual(wanted.slice(0, shown.length));
          const end = Buffer.concat(lines.slice(0, from - 1)).length + range.bytes.length;
          if (from <= lines.length) expect(range.more).toBe(end < content.length);
          if (range.totalLines !== undefined) expect(range.totalLines).toBe(lines.length);
        },
      ),
    ),
  );
});

function linesWithBreaks(content: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < content.length;) {
    const at = content.indexOf(0x0a, from);
    const end = at === -1 ? content.length : at + 1;
    lines.push(content.subarray(from, end));
    from = end;
  }
  return lines;
}

const block = fc.oneof(
  fc.oneof(anyText, longText(3_000)).map((text) => ({ type: 'text' as const, text })),
  longText(2_000).map((data) => ({ type: 'image' as const, data, mimeType: 'image/png' })),
);

describe('a tool result', () => {
  test(
    'is bounded: its text keeps beginning and end, what is left out is told',
    holds(
      fc.asyncProperty(
        fc.array(block, { maxLength: 5 }),
        fc.option(anyJson, { nil: undefined }),
        fc.integer({ min: 1, max: 4_000 }),
        fc.integer({ min: 1, max: 2_000 }),
        async (content: UserContent, details, maxResultBytes, maxImageBytes) => {
          let kept: string | undefined;
          const result: ToolResult = {
            content,
            ...(details === undefined ? {} : { details }),
            isError: false,
          };
          const bounded = await boundResult(result, {
            maxResultBytes,
            maxImageBytes,
            keepFullText: (text) => {
              kept = text;
              return Promise.resolve('.holdfast/output/c.log');
            },
          });
          expect(isReadableToolResult(bounded)).toBe(true);
          expect(jsonSize(bounded)).toBeLessThanOrEqual(1_800_000);
          const images = bounded.content.flatMap((each) => (each.type === 'image' ? [each] : []));
          expect(images.every(({ data }) => data.length <= maxImageBytes)).toBe(true);
          const total = (of: UserContent) =>
            of.reduce((sum, each) => sum + (each.type === 'text' ? utf8Length(each.text) : 0), 0);
          if (kept === undefined) {
            expect(total(bounded.content)).toBeLessThanOrEqual(maxResultBytes);
            return;
          }
          const [first] = bounded.content;
          const shown = first?.type === 'text' ? first.text : '';
          const note = /\n\[… .* left out; the full text is in .* …\]\n/.exec(shown);
          expect(kept.startsWith(shown.slice(0, note?.index))).toBe(true);
          expect(kept.endsWith(shown.slice((note?.index ?? 0) + (note?.[0].length ?? 0)))).toBe(
            true,
          );
          expect(utf8Length(shown)).toBeLessThanOrEqual(maxResultBytes + 200);
        },
      ),
    ),
  );

  test(
    'is made of whatever a tool returns, and nothing in it breaks JSON',
    holds(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.record(
            {
              content: fc.oneof(fc.anything(), fc.array(fc.oneof(block, anyJson, anyText))),
              details: fc.anything(),
              isError: fc.anything(),
              terminate: fc.anything(),
              usage: fc.oneof(
                fc.anything(),
                fc.dictionary(fc.constantFrom('input', 'total'), anyJson),
              ),
            },
            { requiredKeys: [] },
          ),
        ),
        (output) => {
          const result = toToolResult(output, createRedactor());
          expect(isReadableToolResult(result)).toBe(true);
          expect(received(result)).toStrictEqual(JSON.parse(JSON.stringify(result)));
          expect(typeof result.isError).toBe('boolean');
          const { usage } = result;
          if (usage !== undefined) expect(Object.values(usage).every(Number.isFinite)).toBe(true);
        },
      ),
    ),
  );
});
