// The tool `edit`: replaces one exact passage of a text file, or refuses and says why.

import type { JsonObject } from '../../protocol/json.js';
import type { ToolContext, ToolDefinition, ToolOutput } from '../definitions.js';
import { writeFileAtomically } from './atomic-write.js';
import { editDiff, firstChangedLine } from './edit-diff.js';
import { absenceHint } from './edit-hint.js';
import { editText } from './text-edit.js';
import { flagArgument, plural, sizeText, textArgument } from './tool-arguments.js';
import { withFile, WorkspaceError } from './workspace-files.js';

const maxFileBytes = 10 * 1024 * 1024;
const byteOrderMark = '\ufeff';

export const editTool: ToolDefinition = {
  name: 'edit',
  label: 'Edit file',
  description:
    'Replaces a passage of a text file of the workspace. oldText must match the file exactly, whitespace included, and occur ' +
    'once: give enough lines around it to make it unique, or set replaceAll to change every occurrence.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Path of the file, relative to the workspace.' },
      oldText: { type: 'string', description: 'The exact text to be replaced.' },
      newText: { type: 'string', description: 'What takes its place.' },
      replaceAll: { type: 'boolean', description: 'Replace every occurrence. Default false.' },
    },
    required: ['path', 'oldText', 'newText'],
  },
  executionMode: 'sequential',
  effects: 'non-idempotent',
  execute: edit,
};

async function edit(args: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const path = textArgument(args, 'path');
  const oldText = withoutMark(textArgument(args, 'oldText'));
  const newText = withoutMark(textArgument(args, 'newText'));
  const replaceAll = flagArgument(args, 'replaceAll');
  if (oldText === '') throw new WorkspaceError('oldText is empty. To make a file, use write.');
  if (oldText === newText)
    throw new WorkspaceError('oldText and newText are the same: nothing to do.');

  const { whole, stats } = await readWhole(context.workspace.root, path);
  const mark = whole.startsWith(byteOrderMark) ? byteOrderMark : '';
  const text = whole.slice(mark.length);
  const outcome = editText(text, { oldText, newText, replaceAll });
  if (outcome.kind === 'absent') {
    const hint = absenceHint(text, oldText, newText);
    const fact = `oldText does not occur in ${path}; nothing was changed.`;
    throw new WorkspaceError(
      hint === undefined ? `${fact} Read the file first.` : `${fact} ${hint}`,
    );
  }
  if (outcome.kind === 'ambiguous')
    throw new WorkspaceError(ambiguousText(path, outcome.count, outcome.lines));

  const bytes = Buffer.from(mark + outcome.text);
  if (context.signal.aborted) throw context.signal.reason;
  await writeFileAtomically(context.workspace.root, path, bytes, stats);
  const line = firstChangedLine(text, outcome.replacements);
  const count = outcome.replacements.length;
  return {
    content:
      count === 1
        ? `Edited ${path} at line ${line}.`
        : `Edited ${path}: ${plural(count, 'occurrence')} replaced, the first at line ${line}.`,
    details: {
      path,
      replacements: count,
      firstChangedLine: line,
      diff: editDiff(path, text, outcome.replacements),
    },
  };
}

function withoutMark(text: string): string {
  return text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text;
}

function readWhole(root: string, path: string) {
  return withFile(root, path, async (file, stats) => {
    if (stats.size > maxFileBytes) {
      throw new WorkspaceError(
        `${path} has ${sizeText(stats.size)}, more than the ${sizeText(maxFileBytes)} that edit handles; use bash.`,
      );
    }
    const bytes = await file.readFile();
    try {
      const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
      return { whole: decoder.decode(bytes), stats };
    } catch {
      throw new WorkspaceError(`${path} is not text in UTF-8; editing it would damage it.`);
    }
  });
}

function ambiguousText(path: string, count: number, lines: readonly number[]): string {
  const more = count > lines.length ? ` and ${count - lines.length} more` : '';
  return (
    `oldText occurs ${count} times in ${path}, at lines ${lines.join(', ')}${more}; nothing was changed. ` +
    'Add lines around it to say which one, or set replaceAll.'
  );
}
