// Messages as people send them: a bare string, `{"text": …}` or a full message. Checked by hand, as zod
// has no place in the sandbox. Every problem is one sentence that names the field.

import { isJsonObject } from './json.js';
import type { JsonObject } from './json.js';
import type { InputMessage, Message, Untimed, UserContent } from './messages.js';

export type Parsed<T> = { readonly value: T } | { readonly problem: string };

/** One message that may be queued or given as a prompt: from a user, or custom. */
export function parseInputMessage(input: unknown, at: string): Parsed<InputMessage> {
  if (typeof input === 'string') {
    return input === ''
      ? { problem: `${at}: the text is empty.` }
      : { value: { role: 'user', content: [{ type: 'text', text: input }] } };
  }
  if (!isJsonObject(input)) {
    return {
      problem: `${at}: expected a string, {"text": …} or a message, got ${describe(input)}.`,
    };
  }
  const { role = 'user' } = input;
  if ('text' in input && input['content'] === undefined && role === 'user') {
    if (typeof input['text'] !== 'string') {
      return { problem: `${at}.text: expected a string, got ${describe(input['text'])}.` };
    }
    return parseInputMessage(input['text'], at);
  }
  if (role !== 'user' && role !== 'custom') {
    return { problem: `${at}.role: expected user or custom, got ${describe(role)}.` };
  }
  const problem = contentProblem(input['content'], `${at}.content`);
  if (problem !== undefined) return { problem };
  const content = input['content'] as unknown as string | UserContent;
  if (role === 'user') return { value: { role, content } };
  if (typeof input['customType'] !== 'string' || input['customType'] === '') {
    return { problem: `${at}.customType: expected a name, got ${describe(input['customType'])}.` };
  }
  const { customType, details } = input;
  return {
    value: { role, customType, content, ...(details === undefined ? {} : { details }) },
  };
}

/** A prompt: one message or a list of them. */
export function parsePrompt(input: unknown, at: string): Parsed<readonly InputMessage[]> {
  if (!Array.isArray(input)) {
    const parsed = parseInputMessage(input, at);
    return 'problem' in parsed ? parsed : { value: [parsed.value] };
  }
  if (input.length === 0) return { problem: `${at}: the list is empty.` };
  const messages: InputMessage[] = [];
  for (const [index, item] of input.entries()) {
    const parsed = parseInputMessage(item, `${at}[${index}]`);
    if ('problem' in parsed) return parsed;
    messages.push(parsed.value);
  }
  return { value: messages };
}

/** Why a value is no transcript to start from; undefined when it is one. */
export function transcriptProblem(input: unknown, at: string): string | undefined {
  if (!Array.isArray(input)) return `${at}: expected a list of messages, got ${describe(input)}.`;
  for (const [index, item] of input.entries()) {
    const problem = messageProblem(item, `${at}[${index}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A checked transcript as messages; times that are missing are the caller's to give. */
export function toTranscript(input: readonly unknown[]): readonly (Untimed | Message)[] {
  return input as readonly (Untimed | Message)[];
}

const stopReasons = ['stop', 'length', 'toolUse', 'error', 'aborted'];
const usageFields = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'total'];

function messageProblem(message: unknown, at: string): string | undefined {
  if (!isJsonObject(message)) return `${at}: expected a message, got ${describe(message)}.`;
  const { timestamp } = message;
  if (timestamp !== undefined && !Number.isFinite(timestamp)) {
    return `${at}.timestamp: expected milliseconds, got ${describe(timestamp)}.`;
  }
  switch (message['role'] as Message['role']) {
    case 'user':
      return contentProblem(message['content'], `${at}.content`);
    case 'custom':
      return (
        stringProblem(message, 'customType', at) ??
        contentProblem(message['content'], `${at}.content`)
      );
    case 'compactionSummary':
    case 'branchSummary':
      return stringProblem(message, 'text', at);
    case 'toolResult':
      return (
        stringProblem(message, 'toolCallId', at) ??
        stringProblem(message, 'toolName', at) ??
        (typeof message['isError'] === 'boolean'
          ? undefined
          : `${at}.isError: expected true or false, got ${describe(message['isError'])}.`) ??
        (Array.isArray(message['content'])
          ? blocksProblem(message['content'], `${at}.content`, true)
          : `${at}.content: expected a list of blocks, got ${describe(message['content'])}.`)
      );
    case 'assistant':
      return assistantProblem(message, at);
    default:
      return `${at}.role: expected user, assistant, toolResult, custom, compactionSummary or branchSummary, got ${describe(message['role'])}.`;
  }
}

function assistantProblem(message: JsonObject, at: string): string | undefined {
  const { content, stopReason, usage } = message;
  if (!Array.isArray(content)) {
    return `${at}.content: expected a list of blocks, got ${describe(content)}.`;
  }
  if (typeof stopReason !== 'string' || !stopReasons.includes(stopReason)) {
    return `${at}.stopReason: expected one of ${stopReasons.join(', ')}, got ${describe(stopReason)}.`;
  }
  if (!isJsonObject(usage) || !usageFields.every((field) => Number.isFinite(usage[field]))) {
    return `${at}.usage: expected the numbers ${usageFields.join(', ')}, got ${describe(usage)}.`;
  }
  for (const [index, block] of (content as readonly unknown[]).entries()) {
    const problem = assistantBlockProblem(block, `${at}.content[${index}]`);
    if (problem !== undefined) return problem;
  }
  return stringProblem(message, 'provider', at) ?? stringProblem(message, 'model', at);
}

function assistantBlockProblem(block: unknown, at: string): string | undefined {
  if (!isJsonObject(block)) return `${at}: expected a block, got ${describe(block)}.`;
  switch (block['type'] as 'text' | 'thinking' | 'toolCall') {
    case 'text':
      return stringProblem(block, 'text', at);
    case 'thinking':
      return stringProblem(block, 'thinking', at);
    case 'toolCall':
      return (
        stringProblem(block, 'id', at) ??
        stringProblem(block, 'name', at) ??
        (isJsonObject(block['arguments'])
          ? undefined
          : `${at}.arguments: expected an object, got ${describe(block['arguments'])}.`)
      );
    default:
      return `${at}.type: expected text, thinking or toolCall, got ${describe(block['type'])}.`;
  }
}

function contentProblem(content: unknown, at: string): string | undefined {
  if (typeof content === 'string') return content === '' ? `${at}: the text is empty.` : undefined;
  if (!Array.isArray(content)) {
    return `${at}: expected a string or a list of text and image blocks, got ${describe(content)}.`;
  }
  return blocksProblem(content, at, false);
}

function blocksProblem(
  blocks: readonly unknown[],
  at: string,
  mayBeEmpty: boolean,
): string | undefined {
  if (blocks.length === 0 && !mayBeEmpty) return `${at}: the list is empty.`;
  for (const [index, block] of blocks.entries()) {
    const here = `${at}[${index}]`;
    if (!isJsonObject(block)) return `${here}: expected a block, got ${describe(block)}.`;
    if (block['type'] === 'text') {
      const problem = stringProblem(block, 'text', here);
      if (problem !== undefined) return problem;
    } else if (block['type'] === 'image') {
      const problem = stringProblem(block, 'data', here) ?? stringProblem(block, 'mimeType', here);
      if (problem !== undefined) return problem;
    } else {
      return `${here}.type: expected text or image, got ${describe(block['type'])}.`;
    }
  }
  return undefined;
}

function stringProblem(object: JsonObject, field: string, at: string): string | undefined {
  const value = object[field];
  return typeof value === 'string'
    ? undefined
    : `${at}.${field}: expected a string, got ${describe(value)}.`;
}

/** A value in an error message: short, and never the whole of something large. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  const text =
    typeof value === 'string' ? JSON.stringify(value) : String(value as number | boolean);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
