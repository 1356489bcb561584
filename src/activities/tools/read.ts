// The tool `read`: a part of a text file by lines, or an image. Memory is bounded by the result's size,
// whatever the file's.

import type { FileHandle } from 'node:fs/promises';
import type { JsonObject } from '../../protocol/json.js';
import type { ToolContext, ToolDefinition, ToolOutput } from '../definitions.js';
import { fileKindBytes, fileKindOf } from './file-kind.js';
import { readLines } from './line-reader.js';
import type { LineRange } from './line-reader.js';
import { countArgument, plural, sizeText, textArgument } from './tool-arguments.js';
import { withFile, WorkspaceError } from './workspace-files.js';

const defaultLines = 2_000;
/** Room that notes take beside the content. */
const noteBytes = 400;

export const readTool: ToolDefinition = {
  name: 'read',
  label: 'Read file',
  description:
    `Reads a file of the workspace. Text comes as it is, by default its first ${defaultLines} lines; use offset and limit ` +
    'for other parts of a long file, as the note at the end of the result says. PNG, JPEG, GIF and WebP files come as images. ' +
    'Other binary files are only described.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Path of the file, relative to the workspace.' },
      offset: { type: 'integer', minimum: 1, description: 'Line to begin with; 1 is the first.' },
      limit: { type: 'integer', minimum: 1, description: 'How many lines to read.' },
    },
    required: ['path'],
  },
  executionMode: 'parallel',
  effects: 'read-only',
  execute: read,
};

async function read(args: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const path = textArgument(args, 'path');
  const from = countArgument(args, 'offset') ?? 1;
  const limit = countArgument(args, 'limit');
  return withFile(context.workspace.root, path, async (file, { size }) => {
    if (size === 0 && from === 1) return `[${path} is empty.]`;
    const start = Buffer.alloc(Math.min(size, fileKindBytes));
    const { bytesRead } = await file.read(start, 0, start.length, 0);
    const kind = fileKindOf(start.subarray(0, bytesRead));
    if (kind.kind === 'image') return readImage(file, size, kind.mimeType, path, context);
    if (kind.kind === 'binary') {
      return `[${path} is a binary file (${kind.name}, ${sizeText(size)}); its content is not shown.]`;
    }
    const range = await readLines(file, {
      from,
      maxLines: limit ?? defaultLines,
      maxBytes: Math.max(context.maxResultBytes - noteBytes, Math.ceil(context.maxResultBytes / 2)),
    });
    if (range.lines === 0) {
      throw new WorkspaceError(
        `${path} has only ${plural(range.totalLines ?? 0, 'line')}; the offset ${from} is behind its end.`,
      );
    }
    return toText(range, { path, from, size });
  });
}

function toText(
  range: LineRange,
  { path, from, size }: { path: string; from: number; size: number },
) {
  const text = range.bytes.toString('utf8');
  const last = from + range.lines - 1;
  if (range.cutLine) {
    const byteCount = range.bytes.length;
    return (
      `${text}\n[Line ${from} is too long to be shown whole: these are its first ${byteCount} bytes. Its rest can be read with bash, ` +
      `e.g. sed -n ${from}p ${path} | tail -c +${byteCount + 1} | head -c ${byteCount}. The next line is read with offset ${from + 1}.]`
    );
  }
  if (!range.more) return text;
  const total = sizeText(size);
  return `${text}\n[Lines ${from}-${last} of a file of ${total}. More follows: go on with offset ${last + 1}.]`;
}

async function readImage(
  file: FileHandle,
  size: number,
  mimeType: string,
  path: string,
  context: ToolContext,
): Promise<ToolOutput> {
  const encodedBytes = Math.ceil(size / 3) * 4;
  if (encodedBytes > context.maxImageBytes) {
    return (
      `[${path} is an image (${mimeType}, ${sizeText(size)}) that is too large to be shown: in base64 it has ` +
      `${sizeText(encodedBytes)}, the limit is ${sizeText(context.maxImageBytes)}.]`
    );
  }
  const data = Buffer.alloc(size);
  const { bytesRead } = await file.read(data, 0, size, 0);
  return {
    content: [
      { type: 'text', text: `[${path}: ${mimeType}, ${sizeText(size)}]` },
      { type: 'image', data: data.subarray(0, bytesRead).toString('base64'), mimeType },
    ],
  };
}
