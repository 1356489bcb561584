// Messages as people send them: a bare string, `{"text": …}` or a full message. Fields that no message has
// are left out, so that nothing unknown enters the transcript.

import { isJsonObject, isNestedTooDeeply, maxJsonDepth } from './json.js';
import { inputLimits } from './limits.js';
import type { InputMessage, UserContent } from './messages.js';
import {
  expecting,
  own,
  parseAny,
  parseFields,
  parseItems,
  parseName,
  parseString,
} from './shape.js';
import type { Parse, Parsed } from './shape.js';
import { describe } from './text.js';

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
  const tooDeep = depthProblem(input, at);
  if (tooDeep !== undefined) return { problem: tooDeep };
  const role = own(input, 'role') ?? 'user';
  const text = own(input, 'text');
  const content = own(input, 'content') ?? undefined;
  if (text !== undefined && content === undefined && role === 'user') {
    const parsed = parseString(text, `${at}.text`);
    return 'problem' in parsed ? parsed : parseInputMessage(parsed.value, at);
  }
  if (role === 'user') {
    const parsed = parseFields(input, at, { required: { content: parseContent } });
    return 'problem' in parsed ? parsed : { value: { role, ...parsed.value } as InputMessage };
  }
  if (role === 'custom') {
    const parsed = parseFields(input, at, {
      required: { customType: parseName, content: parseContent },
      optional: { details: parseAny },
    });
    return 'problem' in parsed ? parsed : { value: { role, ...parsed.value } as InputMessage };
  }
  return { problem: `${at}.role: expected user or custom, got ${describe(role)}.` };
}

/** A prompt: one message or a list of them. */
export function parsePrompt(input: unknown, at: string): Parsed<readonly InputMessage[]> {
  if (!Array.isArray(input)) {
    const parsed = parseInputMessage(input, at);
    return 'problem' in parsed ? parsed : { value: [parsed.value] };
  }
  if (input.length === 0) return { problem: `${at}: the list is empty.` };
  const tooLong = lengthProblem(input, inputLimits.maxPromptMessages, at);
  if (tooLong !== undefined) return { problem: tooLong };
  return parseItems(input, at, parseInputMessage);
}

/** Why a list of messages is longer than one Workflow Task can take in. */
export function lengthProblem(
  list: readonly unknown[],
  maxLength: number,
  at: string,
): string | undefined {
  if (list.length <= maxLength) return undefined;
  return `${at}: expected at most ${maxLength} messages, got ${list.length}; join some of them.`;
}

export function depthProblem(value: unknown, at: string): string | undefined {
  return isNestedTooDeeply(value) ? `${at}: nested deeper than ${maxJsonDepth} levels.` : undefined;
}

/** A user's text, or blocks. What says nothing at all is refused: providers would refuse it for ever. */
export const parseContent: Parse<string | UserContent> = (content, at) => {
  if (typeof content === 'string') {
    return content === '' ? { problem: `${at}: the text is empty.` } : { value: content };
  }
  if (!Array.isArray(content)) {
    return {
      problem: `${at}: expected a string or a list of text and image blocks, got ${describe(content)}.`,
    };
  }
  if (content.length === 0) return { problem: `${at}: the list is empty.` };
  const parsed = parseBlocks(content, at);
  if (
    'value' in parsed &&
    parsed.value.every((block) => block.type === 'text' && block.text === '')
  )
    return { problem: `${at}: the text is empty.` };
  return parsed;
};

/** A list of text and image blocks, which may be empty. */
export const parseBlocks: Parse<UserContent> = (blocks, at) =>
  Array.isArray(blocks)
    ? (parseItems(blocks, at, parseBlock) as Parsed<UserContent>)
    : { problem: `${at}: expected a list of blocks, got ${describe(blocks)}.` };

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

const parseBase64 = expecting(
  'base64 data',
  (value): value is string => typeof value === 'string' && base64.test(value),
);

const parseMimeType = expecting(
  'a mime type like image/png',
  (value): value is string => typeof value === 'string' && /^image\/[\w.+-]+$/.test(value),
);

const parseBlock: Parse = (block, at) => {
  if (!isJsonObject(block)) {
    return { problem: `${at}: expected a block, got ${describe(block)}.` };
  }
  const type = own(block, 'type');
  if (type === 'text') return withType(type, parseFields(block, at, textShape));
  if (type === 'image') return withType(type, parseFields(block, at, imageShape));
  return { problem: `${at}.type: expected text or image, got ${describe(type)}.` };
};

export const textShape = { required: { text: parseString } };
const imageShape = { required: { data: parseBase64, mimeType: parseMimeType } };

/** A block's fields after its type. */
export function withType<T extends string>(type: T, parsed: Parsed<object>): Parsed<unknown> {
  return 'problem' in parsed ? parsed : { value: { type, ...parsed.value } };
}
