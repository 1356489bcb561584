// The tool `write`: a whole file, written atomically. Doing it twice gives the same file.

import type { JsonObject } from '../../protocol/json.js';
import type { ToolContext, ToolDefinition, ToolOutput } from '../definitions.js';
import { writeFileAtomically } from './atomic-write.js';
import { sizeText, textArgument } from './tool-arguments.js';

export const writeTool: ToolDefinition = {
  name: 'write',
  label: 'Write file',
  description:
    'Writes a file of the workspace: makes it, or replaces all of its content. Missing folders are made. ' +
    'To change a part of a file, use edit.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Path of the file, relative to the workspace.' },
      content: { type: 'string', description: 'The whole content of the file.' },
    },
    required: ['path', 'content'],
  },
  executionMode: 'sequential',
  effects: 'idempotent',
  execute: write,
};

async function write(args: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const path = textArgument(args, 'path');
  const bytes = Buffer.from(textArgument(args, 'content'));
  const { created } = await writeFileAtomically(context.workspace.root, path, bytes);
  const text = `${created ? 'Created' : 'Replaced'} ${path} (${sizeText(bytes.length)}).`;
  return { content: text, details: { path, bytes: bytes.length, created } };
}
