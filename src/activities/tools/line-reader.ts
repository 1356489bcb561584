// Reads a range of lines out of a file of any size, in pieces, holding no more than the result may have.

import type { FileHandle } from 'node:fs/promises';

export interface LineRange {
  /** The lines, each with its line break, cut to `maxBytes`. */
  readonly bytes: Buffer;
  /** Lines that `bytes` holds, whole or in part. */
  readonly lines: number;
  /** `bytes` ends inside a line that alone is longer than `maxBytes`. */
  readonly cutLine: boolean;
  /** More of the file follows. */
  readonly more: boolean;
  /** Lines in the file, where its end was reached. */
  readonly totalLines?: number;
}

const pieceBytes = 64 * 1024;
const lineBreak = 0x0a;

/**
 * Lines from `from` (1 is the first), at most `maxLines` and `maxBytes`. Whole lines only, unless the
 * first alone is longer than `maxBytes`.
 */
export async function readLines(
  file: FileHandle,
  { from, maxLines, maxBytes }: { from: number; maxLines: number; maxBytes: number },
): Promise<LineRange> {
  const piece = Buffer.alloc(pieceBytes);
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let line = 1;
  let position = 0;
  let last = lineBreak;
  for (;;) {
    const { bytesRead } = await file.read(piece, 0, pieceBytes, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    last = piece[bytesRead - 1] ?? last;
    let start = 0;
    while (start < bytesRead) {
      if (line >= from + maxLines) return finish(kept, maxBytes, true);
      const found = piece.subarray(0, bytesRead).indexOf(lineBreak, start);
      const end = found === -1 ? bytesRead : found + 1;
      if (line >= from) {
        kept.push(Buffer.from(piece.subarray(start, end)));
        keptBytes += end - start;
        if (keptBytes > maxBytes) return finish(kept, maxBytes, true);
      }
      if (found !== -1) line += 1;
      start = end;
    }
  }
  const totalLines = last === lineBreak ? line - 1 : line;
  return { ...finish(kept, maxBytes, false), totalLines };
}

function finish(kept: readonly Buffer[], maxBytes: number, more: boolean): LineRange {
  const all = Buffer.concat(kept);
  if (all.length <= maxBytes) return { bytes: all, lines: countLines(all), cutLine: false, more };
  const end = all.lastIndexOf(lineBreak, maxBytes - 1) + 1;
  const bytes = end > 0 ? all.subarray(0, end) : all.subarray(0, wholeCharacters(all, maxBytes));
  return { bytes, lines: countLines(bytes), cutLine: end === 0, more: true };
}

/** The largest end up to `end` that is not inside a UTF-8 character. */
function wholeCharacters(bytes: Buffer, end: number): number {
  let cut = end;
  while (cut > 0 && end - cut < 4 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut -= 1;
  return cut;
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(lineBreak); at !== -1; at = bytes.indexOf(lineBreak, at + 1))
    lines += 1;
  return bytes.length > 0 && bytes[bytes.length - 1] !== lineBreak ? lines + 1 : lines;
}
