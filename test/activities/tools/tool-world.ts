// A workspace on the real disk and the context a tool gets, without Temporal.

import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/protocol/json.js';
import type { ToolContext, ToolDefinition } from '../../../src/activities/definitions.js';
import { createRedactor } from '../../../src/activities/secrets.js';
import type { Redactor } from '../../../src/activities/secrets.js';
import { createBuiltInTools } from '../../../src/activities/tools/index.js';
import { toolEnvironment } from '../../../src/activities/tools/tool-environment.js';
import { toToolResult } from '../../../src/activities/tools/tool-output.js';

export interface ToolWorld extends AsyncDisposable {
  /** The workspace's folder. */
  readonly root: string;
  /** A folder beside it, which tools must not reach. */
  readonly outside: string;
  readonly redactor: Redactor;
  /** What the tool has shown so far. */
  readonly shown: () => string;
  run(name: string, args: JsonObject, change?: Partial<ToolContext>): Promise<ToolAnswer>;
}

export interface ToolAnswer {
  /** Text blocks joined by newlines; a throw's message. */
  readonly text: string;
  readonly isError: boolean;
  readonly details: { readonly [field: string]: unknown };
  readonly images: readonly { readonly data: string; readonly mimeType: string }[];
}

export async function createToolWorld(): Promise<ToolWorld> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-tools-')));
  const [root, outside] = [join(folder, 'workspace'), join(folder, 'outside')];
  await Promise.all([mkdir(root), mkdir(outside)]);
  const redactor = createRedactor();
  const tools = createBuiltInTools();
  let shown = '';
  return {
    root,
    outside,
    redactor,
    shown: () => shown,
    run: (name, args, change = {}) =>
      answer(toolNamed(tools, name), args, redactor, {
        toolCallId: 'call-1',
        toolName: name,
        workspace: { name: 'default', root },
        signal: new AbortController().signal,
        attempt: 1,
        maxResultBytes: 50 * 1024,
        maxImageBytes: 1024 * 1024,
        environment: toolEnvironment(process.env, [], redactor),
        maxTimeoutMs: 60 * 60_000,
        redacting: () => redactor.stream(),
        update: (text) => {
          shown += text;
        },
        ...change,
      }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

function toolNamed(tools: readonly ToolDefinition[], name: string): ToolDefinition {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`There is no tool ${name}.`);
  return tool;
}

async function answer(
  tool: ToolDefinition,
  args: JsonObject,
  redactor: Redactor,
  context: ToolContext,
): Promise<ToolAnswer> {
  try {
    const result = toToolResult(await tool.execute(args, context), redactor);
    const texts = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    return {
      text: texts.join('\n'),
      isError: result.isError,
      details: { ...(result.details as object | undefined) },
      images: result.content.filter((block) => block.type === 'image'),
    };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { text, isError: true, details: {}, images: [] };
  }
}
