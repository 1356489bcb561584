// What hooks return, checked before it enters history: users write hooks in JavaScript too, and the
// workflow trusts what an activity says. Each problem names the hook and the field.

import { thinkingLevels } from '../protocol/agent-definition.js';
import type { ThinkingLevel } from '../protocol/agent-definition.js';
import type { BeforeToolCallResult, PrepareNextTurnResult } from '../protocol/activities.js';
import { isJsonObject, jsonSize, utf8Length } from '../protocol/json.js';
import type { JsonObject, JsonValue } from '../protocol/json.js';
import { payloadLimits } from '../protocol/limits.js';
import type { InputMessage } from '../protocol/messages.js';
import type { Redactor } from './secrets.js';
import { plainText, plainValue } from '../protocol/plain-value.js';
import { toContent } from './tools/tool-output.js';

/** A hook returned something that it may not. */
export class HookResultProblem extends Error {
  override readonly name = 'HookResultProblem';
}

type Fields = { readonly [field: string]: unknown };

/** Nothing stands for no change. */
export function fieldsOf(hook: string, value: unknown): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new HookResultProblem(`${hook} must return an object or nothing.`);
  }
  return { ...value };
}

function typed<T>(hook: string, fields: Fields, field: string, type: string): T | undefined {
  const value = fields[field];
  if (value === undefined) return undefined;
  if (typeof value !== type) throw new HookResultProblem(`${hook}: ${field} must be a ${type}.`);
  return value as T;
}

export const optionalBoolean = (hook: string, fields: Fields, field: string) =>
  typed<boolean>(hook, fields, field, 'boolean');

const optionalText = (hook: string, fields: Fields, field: string, redactor: Redactor) => {
  const text = typed<string>(hook, fields, field, 'string');
  return text === undefined ? undefined : plainText(redactor.redact(text));
};

export function toBeforeToolCallResult(value: unknown, redactor: Redactor): BeforeToolCallResult {
  const hook = 'beforeToolCall';
  const fields = fieldsOf(hook, value);
  const block = optionalBoolean(hook, fields, 'block');
  const reason = optionalText(hook, fields, 'reason', redactor);
  const args = fields['arguments'];
  if (args !== undefined && !isJsonObject(args)) {
    throw new HookResultProblem(`${hook}: arguments must be an object.`);
  }
  const result = {
    ...(block === undefined ? {} : { block }),
    ...(reason === undefined ? {} : { reason }),
    ...(args === undefined ? {} : { arguments: toObject(args, redactor) }),
  };
  assertSize(hook, result, payloadLimits.maxPayloadBytes);
  return result;
}

function toObject(value: object, redactor: Redactor): JsonObject {
  const plain: JsonValue = redactor.redactJson(plainValue(value));
  return isJsonObject(plain) ? plain : {};
}

export interface TurnView {
  /** Names of the models the agent may use. */
  readonly models: readonly string[];
  readonly transcriptLength: number;
}

export function toPrepareNextTurnResult(
  value: unknown,
  view: TurnView,
  redactor: Redactor,
): PrepareNextTurnResult {
  const hook = 'prepareNextTurn';
  const fields = fieldsOf(hook, value);
  const systemPrompt = optionalText(hook, fields, 'systemPrompt', redactor);
  const model = optionalText(hook, fields, 'model', redactor);
  if (model !== undefined && !view.models.includes(model)) {
    const offered = view.models.join(', ');
    throw new HookResultProblem(
      `${hook}: model "${model}" is none of the agent's models: ${offered}.`,
    );
  }
  const thinkingLevel = toThinkingLevel(hook, fields['thinkingLevel']);
  const dropBefore = toDropBefore(hook, fields['dropBefore'], view.transcriptLength);
  const prepend = toPrepend(hook, fields['prepend'], redactor);
  const result = {
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(model === undefined ? {} : { model }),
    ...(thinkingLevel === undefined ? {} : { thinkingLevel }),
    ...(dropBefore === undefined ? {} : { dropBefore }),
    ...(prepend === undefined ? {} : { prepend }),
  };
  assertSize(hook, result, payloadLimits.maxPayloadBytes);
  return result;
}

function toThinkingLevel(hook: string, value: unknown): ThinkingLevel | undefined {
  if (value === undefined) return undefined;
  const level = thinkingLevels.find((known) => known === value);
  if (level !== undefined) return level;
  throw new HookResultProblem(
    `${hook}: thinkingLevel must be one of ${thinkingLevels.join(', ')}.`,
  );
}

function toDropBefore(hook: string, value: unknown, length: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= length) {
    return value;
  }
  throw new HookResultProblem(
    `${hook}: dropBefore must be a whole number from 0 to ${length}, the length of the transcript.`,
  );
}

function toPrepend(
  hook: string,
  value: unknown,
  redactor: Redactor,
): readonly InputMessage[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value))
    throw new HookResultProblem(`${hook}: prepend must be a list of messages.`);
  const messages = value.map((item: unknown) => toInputMessage(hook, item, redactor));
  const size = jsonSize(messages);
  if (size <= payloadLimits.maxPrependBytes) return messages;
  throw new HookResultProblem(
    `${hook}: prepend has ${size} bytes, more than the ${payloadLimits.maxPrependBytes} that are allowed.`,
  );
}

function toInputMessage(hook: string, item: unknown, redactor: Redactor): InputMessage {
  const fields = fieldsOf(`${hook}: a message of prepend`, item);
  const { role, content, customType, details } = fields;
  const known = typeof content === 'string' || Array.isArray(content);
  if ((role !== 'user' && role !== 'custom') || !known) {
    throw new HookResultProblem(`${hook}: prepend takes user and custom messages with content.`);
  }
  const clean =
    typeof content === 'string'
      ? plainText(redactor.redact(content))
      : toContent(content, redactor);
  if (role === 'user') return { role, content: clean };
  if (typeof customType !== 'string') {
    throw new HookResultProblem(`${hook}: a custom message of prepend needs a customType.`);
  }
  return {
    role,
    customType,
    content: clean,
    ...(details === undefined ? {} : { details: redactor.redactJson(plainValue(details)) }),
  };
}

function assertSize(hook: string, result: object, maxBytes: number): void {
  const size = utf8Length(JSON.stringify(result));
  if (size <= maxBytes) return;
  throw new HookResultProblem(
    `${hook} returned ${size} bytes, more than the ${maxBytes} that are allowed.`,
  );
}
