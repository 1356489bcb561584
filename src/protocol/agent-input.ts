// The workflow's input, checked by hand where it arrives. Every problem names the field and says what was
// expected.

import { thinkingLevels } from './agent-definition.js';
import type { ThinkingLevel, ToolExecutionMode } from './agent-definition.js';
import { durationProblem, toMilliseconds } from './duration.js';
import { isJsonObject } from './json.js';
import type { JsonObject } from './json.js';
import { defaultLimits, inputLimits } from './limits.js';
import { parsePrompt } from './message-input.js';
import type { InputMessage, Message, Untimed } from './messages.js';
import { defaultAgentName, defaultWorkspaceName } from './session.js';
import type { Lifetime, QueueMode } from './session.js';
import type { Parse, Parsed } from './shape.js';
import { describe, fieldName } from './text.js';
import { parseTranscript } from './transcript-input.js';

/** An `AgentInput` with its defaults filled in. */
export interface ParsedAgentInput {
  readonly prompt?: readonly InputMessage[];
  readonly messages: readonly (Untimed | Message)[];
  readonly agent: string;
  readonly workspace: string;
  readonly model?: string;
  readonly thinkingLevel?: ThinkingLevel;
  readonly tools?: readonly string[];
  readonly mcpServers?: readonly string[];
  readonly systemPrompt?: string;
  readonly toolExecution: ToolExecutionMode;
  readonly steeringMode: QueueMode;
  readonly followUpMode: QueueMode;
  readonly lifetime: Lifetime;
  readonly idleTimeoutMs?: number;
  readonly limits: {
    readonly maxTurns: number;
    readonly maxTotalTokens?: number;
    readonly maxToolResultBytes: number;
    readonly maxImageBytes: number;
  };
}

export type Check = (value: unknown, at: string) => string | undefined;

/** Names are in answers of bounded size. */
const maxNameLength = 200;

const isName = (value: unknown) =>
  typeof value === 'string' && value !== '' && value.length <= maxNameLength;

const name: Check = (value, at) =>
  isName(value)
    ? undefined
    : `${at}: expected a name of at most ${maxNameLength} characters, got ${describe(value)}.`;

const text: Check = (value, at) =>
  typeof value === 'string' ? undefined : `${at}: expected a string, got ${describe(value)}.`;

const names: Check = (value, at) =>
  Array.isArray(value) &&
  value.length <= inputLimits.maxNames &&
  [...(value as readonly unknown[])].every((item) => isName(item))
    ? undefined
    : `${at}: expected a list of at most ${inputLimits.maxNames} names, got ${describe(value)}.`;

const oneOf =
  (...allowed: readonly string[]): Check =>
  (value, at) =>
    typeof value === 'string' && allowed.includes(value)
      ? undefined
      : `${at}: expected ${allowed.join(' or ')}, got ${describe(value)}.`;

const positiveInteger: Check = (value, at) =>
  Number.isSafeInteger(value) && (value as number) > 0
    ? undefined
    : `${at}: expected a whole number above 0, got ${describe(value)}.`;

const limitFields: { readonly [field: string]: Check } = {
  maxTurns: positiveInteger,
  maxTotalTokens: positiveInteger,
  maxToolResultBytes: positiveInteger,
  maxImageBytes: positiveInteger,
};

const problemOf =
  (parse: Parse): Check =>
  (value, at) => {
    const parsed = parse(value, at);
    return 'problem' in parsed ? parsed.problem : undefined;
  };

export const agentInputFields: { readonly [field: string]: Check } = {
  prompt: problemOf(parsePrompt),
  messages: problemOf(parseTranscript),
  agent: name,
  model: name,
  thinkingLevel: oneOf(...thinkingLevels),
  tools: names,
  mcpServers: names,
  systemPrompt: text,
  workspace: name,
  toolExecution: oneOf('parallel', 'sequential'),
  steeringMode: oneOf('one-at-a-time', 'all'),
  followUpMode: oneOf('one-at-a-time', 'all'),
  lifetime: oneOf('run', 'session'),
  idleTimeout: durationProblem,
  limits: (value, at) => objectProblem(value, limitFields, at),
};

/** Why a value is no object of these fields, in one sentence that names the field. */
export function objectProblem(
  value: unknown,
  checks: { readonly [field: string]: Check },
  at: string,
): string | undefined {
  if (!isJsonObject(value)) return `${at}: expected an object, got ${describe(value)}.`;
  for (const [field, item] of Object.entries(value)) {
    const here = at === '' ? fieldName(field) : `${at}.${fieldName(field)}`;
    const check = Object.hasOwn(checks, field) ? checks[field] : undefined;
    if (check === undefined) {
      return `${here}: unknown field; known are ${Object.keys(checks).join(', ')}.`;
    }
    // JSON has no undefined: a field without a value is one that is not there.
    if (item === undefined) continue;
    const problem = check(item, here);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Why a value is no workflow input, in one sentence that names the field; undefined when it is one. */
export function agentInputProblem(input: unknown): string | undefined {
  const parsed = parseAgentInput(input);
  return 'problem' in parsed ? parsed.problem : undefined;
}

/** Reads a string or an `AgentInput`. */
export function parseAgentInput(input: unknown): Parsed<ParsedAgentInput> {
  if (typeof input === 'string') return parseAgentInput({ prompt: input });
  if (!isJsonObject(input)) {
    return { problem: `input: expected a string or an object, got ${describe(input)}.` };
  }
  const problem = objectProblem(input, agentInputFields, '');
  if (problem !== undefined) return { problem };
  const { prompt, messages, lifetime = 'run', idleTimeout, limits, ...rest } = input;
  const continues = Array.isArray(messages) && messages.length > 0;
  if (lifetime === 'run' && prompt === undefined && !continues) {
    return { problem: 'prompt: a run needs a prompt, or messages to continue from.' };
  }
  if (lifetime === 'run' && idleTimeout !== undefined) {
    return { problem: 'idleTimeout: only a session has one; set lifetime to session.' };
  }
  const parsedPrompt = prompt === undefined ? undefined : parsePrompt(prompt, 'prompt');
  const transcript = messages === undefined ? undefined : parseTranscript(messages, 'messages');
  return {
    value: {
      agent: defaultAgentName,
      workspace: defaultWorkspaceName,
      toolExecution: 'parallel',
      steeringMode: 'one-at-a-time',
      followUpMode: 'one-at-a-time',
      ...withoutUndefined(rest),
      lifetime: lifetime as Lifetime,
      messages: transcript !== undefined && 'value' in transcript ? transcript.value : [],
      ...(parsedPrompt !== undefined && 'value' in parsedPrompt
        ? { prompt: parsedPrompt.value }
        : {}),
      ...(idleTimeout === undefined
        ? {}
        : { idleTimeoutMs: toMilliseconds(idleTimeout as string | number) }),
      limits: { ...defaultLimits, ...withoutUndefined((limits ?? {}) as JsonObject) },
    } as ParsedAgentInput,
  };
}

function withoutUndefined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
