// What hooks of the workflow return, checked before the run uses it: it becomes part of the transcript and
// of what models see, which activities read as JSON. Each problem names the hook and the field.

import type {
  AfterToolCallResult,
  BeforeToolCallResult,
  PrepareNextTurnResult,
} from '../protocol/activities.js';
import { thinkingLevels } from '../protocol/agent-definition.js';
import { deepFreeze, isJsonObject, jsonSize } from '../protocol/json.js';
import { payloadLimits } from '../protocol/limits.js';
import { parseBlocks, parseInputMessage } from '../protocol/message-input.js';
import { plainValue } from '../protocol/plain-value.js';
import {
  expecting,
  parseAny,
  parseBoolean,
  parseFields,
  parseItems,
  parseObject,
  parseString,
} from '../protocol/shape.js';
import type { Parse, Parsed, Shape } from '../protocol/shape.js';
import { describe } from '../protocol/text.js';
import { parseUsage } from '../protocol/transcript-input.js';

const parseContent: Parse = (content, at) =>
  typeof content === 'string'
    ? { value: [{ type: 'text', text: content }] }
    : parseBlocks(content, at);

const beforeShape: Shape = {
  required: {},
  optional: { block: parseBoolean, reason: parseString, arguments: parseObject },
};

const afterShape: Shape = {
  required: {},
  optional: {
    content: parseContent,
    details: parseAny,
    isError: parseBoolean,
    terminate: parseBoolean,
    usage: parseUsage,
  },
};

const parsePrepend: Parse = (value, at) => {
  if (!Array.isArray(value)) {
    return { problem: `${at}: expected a list of messages, got ${describe(value)}.` };
  }
  const parsed = parseItems(value, at, parseInputMessage);
  if ('problem' in parsed) return parsed;
  const bytes = jsonSize(parsed.value);
  return bytes <= payloadLimits.maxPrependBytes
    ? parsed
    : { problem: `${at}: ${bytes} bytes, expected at most ${payloadLimits.maxPrependBytes}.` };
};

const parseThinkingLevel = expecting(
  thinkingLevels.join(' or '),
  (value): value is (typeof thinkingLevels)[number] =>
    (thinkingLevels as readonly unknown[]).includes(value),
);

export function toBeforeToolCallResult(value: unknown): BeforeToolCallResult {
  return fieldsOf('beforeToolCall', value, beforeShape);
}

export function toAfterToolCallResult(value: unknown): AfterToolCallResult {
  return fieldsOf('afterToolCall', value, afterShape);
}

export function toPrepareNextTurnResult(
  value: unknown,
  {
    models,
    transcriptLength,
  }: { readonly models: readonly string[]; readonly transcriptLength: number },
): PrepareNextTurnResult {
  const parseModel = expecting(
    models.join(' or '),
    (model): model is string => typeof model === 'string' && models.includes(model),
  );
  const parseDropBefore = expecting(
    `a whole number up to ${transcriptLength}, the length of the transcript`,
    (index): index is number =>
      Number.isSafeInteger(index) &&
      (index as number) >= 0 &&
      (index as number) <= transcriptLength,
  );
  return fieldsOf('prepareNextTurn', value, {
    required: {},
    optional: {
      systemPrompt: parseString,
      model: parseModel,
      thinkingLevel: parseThinkingLevel,
      dropBefore: parseDropBefore,
      prepend: parsePrepend,
    },
  });
}

export function toShouldStop(value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  throw new Error(`expected true or false from shouldStopAfterTurn, got ${describe(value)}.`);
}

/** Nothing stands for no change. */
function fieldsOf(hook: string, value: unknown, shape: Shape): object {
  if (value === undefined || value === null) return {};
  const plain = plainValue(value);
  const parsed: Parsed<object> = isJsonObject(plain)
    ? parseFields(plain, hook, shape)
    : { problem: `${hook}: expected an object or nothing, got ${describe(plain)}.` };
  if ('problem' in parsed) throw new Error(parsed.problem);
  return deepFreeze(parsed.value);
}
