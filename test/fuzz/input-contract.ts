// What inputs may be, written down once more, with zod and from the documentation: what the hand-written
// parsers of the contract are compared with. And valid inputs to begin with.

import fc from 'fast-check';
import { z } from 'zod';
import type { JsonValue } from '../../src/protocol/json.js';
import { anyJson, anyText } from './json-values.js';

// By `refine`, as zod's own checks of lengths trip over objects that have a `length`.
const filled = z.string().refine((text) => text !== '');
const name = filled.refine((text) => text.length <= 200);
const names = z.array(name).refine((list) => list.length <= 500);
const whole = z.int().positive();
const number = z.number();

const textBlock = z.looseObject({ type: z.literal('text'), text: z.string() });
const imageBlock = z.looseObject({
  type: z.literal('image'),
  data: z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/),
  mimeType: z.string().regex(/^image\/[\w.+-]+$/),
});
const blocks = z.array(z.union([textBlock, imageBlock]));
const content = z.union([
  filled,
  blocks.refine((list) => list.some((block) => block.type === 'image' || block.text !== '')),
]);

const usage = z.looseObject({
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  reasoning: number,
  total: number,
  cost: number.nullish(),
});
const timestamp = number.nullish();
const anyObject = z.looseObject({});

const assistantBlock = z.union([
  textBlock,
  z.looseObject({
    type: z.literal('thinking'),
    thinking: z.string(),
    field: filled.nullish(),
    signature: anyObject.nullish(),
  }),
  z.looseObject({
    type: z.literal('toolCall'),
    id: filled,
    name: filled,
    arguments: anyObject,
    argumentsError: z.looseObject({ message: z.string(), raw: z.string() }).nullish(),
    signature: anyObject.nullish(),
  }),
]);

const transcriptMessage = z.union([
  z.looseObject({ role: z.literal('user'), content, timestamp }),
  z.looseObject({
    role: z.literal('assistant'),
    content: z.array(assistantBlock),
    stopReason: z.enum(['stop', 'length', 'toolUse', 'error', 'aborted']),
    usage,
    provider: z.string(),
    model: z.string(),
    finishReason: z.string().nullish(),
    errorMessage: z.string().nullish(),
    responseId: z.string().nullish(),
    attempts: number.nullish(),
    timestamp,
  }),
  z.looseObject({
    role: z.literal('toolResult'),
    toolCallId: filled,
    toolName: filled,
    isError: z.boolean(),
    content: blocks,
    durationMs: number.nullish(),
    usage: usage.nullish(),
    timestamp,
  }),
  z.looseObject({ role: z.literal('custom'), customType: filled, content, timestamp }),
  z.looseObject({
    role: z.enum(['compactionSummary', 'branchSummary']),
    text: z.string(),
    timestamp,
  }),
]);

/** Every call of an answer that counts has one result, directly after it; no result is without a call. */
function isPaired(transcript: readonly z.infer<typeof transcriptMessage>[]): boolean {
  let owed: string[] = [];
  for (const message of transcript) {
    if (message.role === 'toolResult') {
      if (!owed.includes(message.toolCallId)) return false;
      owed = owed.filter((id) => id !== message.toolCallId);
      continue;
    }
    if (owed.length > 0) return false;
    if (message.role !== 'assistant') continue;
    if (message.stopReason === 'error' || message.stopReason === 'aborted') continue;
    owed = message.content.flatMap((block) => (block.type === 'toolCall' ? [block.id] : []));
    if (new Set(owed).size < owed.length) return false;
  }
  return owed.length === 0;
}

const transcript = z.array(transcriptMessage).refine(isPaired);

/** A bare string, `{"text": …}` or a full message; null stands for a field that is left out. */
const inputMessage = z.union([
  filled,
  z.looseObject({ role: z.literal('user').nullish(), content: z.null().optional(), text: filled }),
  z.looseObject({ role: z.literal('user').nullish(), content }),
  z.looseObject({ role: z.literal('custom'), customType: filled, content }),
]);
const prompt = z.union([
  inputMessage,
  z.array(inputMessage).refine((list) => list.length > 0 && list.length <= 1_000),
]);

const units = 'ms|s|m|h|d|(millisecond|second|sec|minute|min|hour|day)s?|';
const duration = z.union([
  number.min(1).max(316_224_000_000),
  z
    .string()
    .regex(new RegExp(`^\\s*\\d+(\\.\\d+)?\\s*(${units.slice(0, -1)})\\s*$`, 'i'))
    .refine((text) => {
      const [, count, unit = ''] = /([\d.]+)\s*([a-z]+)/i.exec(text) ?? [];
      const [letter] = unit.toLowerCase();
      const isMilli = /^m(s|illi)/i.test(unit);
      const each = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[letter ?? ''] ?? NaN;
      const ms = Number(count) * (isMilli ? 1 : each);
      return ms >= 1 && ms <= 316_224_000_000;
    }),
]);

const agentInput = z
  .strictObject({
    prompt: prompt.optional(),
    messages: transcript.optional(),
    agent: name.optional(),
    model: name.optional(),
    thinkingLevel: z.enum(['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
    tools: names.optional(),
    mcpServers: names.optional(),
    systemPrompt: z.string().optional(),
    workspace: name.optional(),
    toolExecution: z.enum(['parallel', 'sequential']).optional(),
    steeringMode: z.enum(['one-at-a-time', 'all']).optional(),
    followUpMode: z.enum(['one-at-a-time', 'all']).optional(),
    lifetime: z.enum(['run', 'session']).optional(),
    idleTimeout: duration.optional(),
    limits: z
      .strictObject({
        maxTurns: whole.optional(),
        maxTotalTokens: whole.optional(),
        maxToolResultBytes: whole.optional(),
        maxImageBytes: whole.optional(),
      })
      .optional(),
  })
  .refine((input) => {
    if (input.lifetime === 'session') return true;
    const says = input.prompt !== undefined || (input.messages ?? []).length > 0;
    return says && input.idleTimeout === undefined;
  });

const accepts = (schema: z.ZodType) => (value: unknown) => schema.safeParse(value).success;

export const mayBeInput = accepts(z.union([filled, agentInput]));
export const mayBeTranscript = accepts(transcript);
export const mayBeInputMessage = accepts(inputMessage);
export const mayBePrompt = accepts(prompt);
export const mayBeDuration = accepts(duration);

// Valid ones.

const someText = anyText.filter((text) => text !== '');
const someName = fc.oneof(
  fc.constantFrom('default', 'a', 'b', '__proto__'),
  anyText.filter((text) => text !== ''),
);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** Some of the optional fields, in any order that JSON keeps. */
function withSome(
  required: { readonly [field: string]: fc.Arbitrary<unknown> },
  others: { readonly [field: string]: fc.Arbitrary<unknown> } = {},
): fc.Arbitrary<JsonValue> {
  return fc
    .record({
      ...required,
      ...Object.fromEntries(
        Object.entries(others).map(([field, arbitrary]) => [field, optional(arbitrary)]),
      ),
    })
    .map((fields) =>
      Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    ) as fc.Arbitrary<JsonValue>;
}

const validText = withSome({ type: fc.constant('text'), text: someText });
const validImage = withSome({
  type: fc.constant('image'),
  data: fc.constantFrom('aGk=', 'AA==', 'AAAA', '+/+/'),
  mimeType: fc.constantFrom('image/png', 'image/svg+xml'),
});
const validContent = fc.oneof(
  someText,
  fc.array(fc.oneof(validText, validImage), { minLength: 1, maxLength: 3 }),
);
const validTime = fc.nat();
const validObject = fc.dictionary(anyText, anyJson, { maxKeys: 3 });
const counts = fc.nat(1_000);
const validUsage = withSome(
  {
    input: counts,
    output: counts,
    cacheRead: counts,
    cacheWrite: counts,
    reasoning: counts,
    total: counts,
  },
  { cost: fc.constantFrom(0, 0.5) },
);

export const validInputMessage: fc.Arbitrary<JsonValue> = fc.oneof(
  someText,
  withSome({ text: someText }, { id: someText, role: fc.constantFrom('user', null) }),
  withSome({ content: validContent }, { role: fc.constant('user') }),
  withSome(
    { role: fc.constant('custom'), customType: someName, content: validContent },
    { details: anyJson },
  ),
);

export const validPrompt: fc.Arbitrary<JsonValue> = fc.oneof(
  validInputMessage,
  fc.array(validInputMessage, { minLength: 1, maxLength: 3 }),
);

const validSummary = withSome(
  { role: fc.constantFrom('compactionSummary', 'branchSummary'), text: anyText },
  { timestamp: validTime },
);
const plainMessage = fc.oneof(
  withSome({ role: fc.constant('user'), content: validContent }, { timestamp: validTime }),
  withSome(
    { role: fc.constant('custom'), customType: someName, content: validContent },
    { details: anyJson, timestamp: validTime },
  ),
  validSummary,
);

interface Turn {
  readonly blocks: readonly JsonValue[];
  readonly calls: readonly JsonValue[];
  readonly result: JsonValue;
  readonly fields: JsonValue;
  readonly leftOut: boolean;
  readonly reversed: boolean;
}

const validTurn = fc
  .record<Turn>({
    blocks: fc.array(
      fc.oneof(
        validText,
        withSome(
          { type: fc.constant('thinking'), thinking: anyText },
          { field: someName, signature: validObject },
        ),
      ),
      { maxLength: 2 },
    ),
    calls: fc.array(
      withSome(
        { type: fc.constant('toolCall'), name: someName, arguments: validObject },
        {
          argumentsError: withSome({ message: anyText, raw: anyText }),
          signature: validObject,
        },
      ),
      { maxLength: 3 },
    ),
    result: withSome(
      {
        role: fc.constant('toolResult'),
        toolName: someName,
        isError: fc.boolean(),
        content: fc.array(fc.oneof(validText, validImage), { maxLength: 2 }),
      },
      { details: anyJson, durationMs: counts, usage: validUsage, timestamp: validTime },
    ),
    fields: withSome(
      {
        role: fc.constant('assistant'),
        usage: validUsage,
        provider: anyText,
        model: anyText,
      },
      {
        finishReason: anyText,
        errorMessage: anyText,
        responseId: anyText,
        attempts: counts,
        timestamp: validTime,
      },
    ),
    leftOut: fc.boolean(),
    reversed: fc.boolean(),
  })
  .map((turn) => turn);

/** An answer with its results, which may stand in any order. */
function messagesOf({
  blocks: before,
  calls,
  result,
  fields,
  leftOut,
  reversed,
}: Turn): JsonValue[] {
  const named = calls.map((call, index) => ({ ...(call as object), id: `c${index}` }));
  const stopReason = leftOut ? 'error' : calls.length > 0 ? 'toolUse' : 'stop';
  const answer = { ...(fields as object), content: [...before, ...named], stopReason };
  const results = leftOut ? [] : named.map(({ id }) => ({ ...(result as object), toolCallId: id }));
  return [answer, ...(reversed ? results.toReversed() : results)] as JsonValue[];
}

export const validTranscript: fc.Arbitrary<JsonValue> = fc
  .array(
    fc.oneof(
      plainMessage.map((message) => [message]),
      validTurn.map(messagesOf),
    ),
    {
      maxLength: 4,
    },
  )
  .map((parts) => parts.flat());

export const validDuration = fc.oneof(
  fc.integer({ min: 1, max: 316_224_000_000 }),
  fc
    .tuple(
      fc.integer({ min: 1, max: 3_000 }),
      fc.constantFrom('', ' ', '  '),
      fc.constantFrom(
        'ms',
        's',
        'sec',
        'secs',
        'Seconds',
        'm',
        'min',
        'minutes',
        'h',
        'hours',
        'd',
      ),
    )
    .map((parts) => parts.join('')),
);

export const inputFields = Object.keys(agentInput.shape);

export const validInput: fc.Arbitrary<JsonValue> = fc.oneof(
  { arbitrary: someText as fc.Arbitrary<JsonValue>, weight: 1 },
  {
    arbitrary: withSome(
      { prompt: validPrompt },
      {
        messages: validTranscript,
        agent: someName,
        model: someName,
        thinkingLevel: fc.constantFrom('off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
        tools: fc.array(someName, { maxLength: 3 }),
        mcpServers: fc.array(someName, { maxLength: 3 }),
        systemPrompt: anyText,
        workspace: someName,
        toolExecution: fc.constantFrom('parallel', 'sequential'),
        steeringMode: fc.constantFrom('one-at-a-time', 'all'),
        followUpMode: fc.constantFrom('one-at-a-time', 'all'),
        lifetime: fc.constantFrom('run', 'session'),
        limits: withSome(
          {},
          {
            maxTurns: fc.integer({ min: 1 }),
            maxTotalTokens: fc.integer({ min: 1 }),
            maxToolResultBytes: fc.integer({ min: 1 }),
            maxImageBytes: fc.integer({ min: 1 }),
          },
        ),
      },
    ),
    weight: 6,
  },
  {
    arbitrary: withSome(
      { lifetime: fc.constant('session') },
      { prompt: validPrompt, idleTimeout: validDuration, messages: validTranscript },
    ),
    weight: 2,
  },
);
