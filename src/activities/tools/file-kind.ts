// What a file holds, told from its first bytes.

export type FileKind =
  | { readonly kind: 'text' }
  | { readonly kind: 'image'; readonly mimeType: string }
  /** `name` is for people, e.g. `PDF document`. */
  | { readonly kind: 'binary'; readonly name: string };

/** Bytes that `fileKindOf` wants to see. */
export const fileKindBytes = 8 * 1024;

const imageSignatures: readonly (readonly [mimeType: string, bytes: string, offset: number])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n', 0],
  ['image/jpeg', '\xff\xd8\xff', 0],
  ['image/gif', 'GIF87a', 0],
  ['image/gif', 'GIF89a', 0],
  ['image/webp', 'WEBP', 8],
];

const binarySignatures: readonly (readonly [name: string, bytes: string])[] = [
  ['PDF document', '%PDF-'],
  ['ZIP archive', 'PK\x03\x04'],
  ['gzip archive', '\x1f\x8b'],
  ['bzip2 archive', 'BZh'],
  ['xz archive', '\xfd7zXZ\0'],
  ['zstd archive', '\x28\xb5\x2f\xfd'],
  ['ELF executable', '\x7fELF'],
  ['Mach-O executable', '\xcf\xfa\xed\xfe'],
  ['WebAssembly module', '\0asm'],
  ['SQLite database', 'SQLite format 3\0'],
  ['text in UTF-16', '\xff\xfe'],
  ['text in UTF-16', '\xfe\xff'],
];

/** `start` is the file's beginning, up to `fileKindBytes`. */
export function fileKindOf(start: Buffer): FileKind {
  const bytes = start.toString('latin1');
  for (const [mimeType, signature, offset] of imageSignatures) {
    if (offset === 8 && !bytes.startsWith('RIFF')) continue;
    if (bytes.startsWith(signature, offset)) return { kind: 'image', mimeType };
  }
  const known = binarySignatures.find(([, signature]) => bytes.startsWith(signature));
  if (known !== undefined && (bytes.includes('\0') || !isMostlyText(start))) {
    return { kind: 'binary', name: known[0] };
  }
  if (bytes.startsWith('%PDF-')) return { kind: 'binary', name: 'PDF document' };
  if (bytes.includes('\0') || !isMostlyText(start))
    return { kind: 'binary', name: 'unknown format' };
  return { kind: 'text' };
}

/** Text of another encoding has a few bytes that are not UTF-8; compressed data has a great many. */
function isMostlyText(start: Buffer): boolean {
  const text = start.toString('utf8');
  let strange = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code === 0xfffd || (code < 32 && !'\t\n\r\f\b\x1b'.includes(character))) strange += 1;
  }
  return strange <= text.length * 0.1;
}
