// What people send, from good to garbage: the parsers of the contract against its description in
// input-contract.ts.

import type { RawValue } from '@temporalio/common';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAgentInput } from '../../src/protocol/agent-input.js';
import { durationProblem, toMilliseconds } from '../../src/protocol/duration.js';
import { isJsonObject } from '../../src/protocol/json.js';
import type { JsonValue } from '../../src/protocol/json.js';
import { parseInputMessage, parsePrompt } from '../../src/protocol/message-input.js';
import { parseTranscript } from '../../src/protocol/transcript-input.js';
import { decodePayload } from '../../src/workflows/payload.js';
import { holds } from './cases.js';
import {
  inputFields,
  mayBeDuration,
  mayBeInput,
  mayBeInputMessage,
  mayBePrompt,
  mayBeTranscript,
  validDuration,
  validInput,
  validInputMessage,
  validPrompt,
  validTranscript,
} from './input-contract.js';
import { anyJson, anyText, damage, damaged, received } from './json-values.js';
import type { Damage } from './json-values.js';

type Parsed = { readonly value: unknown } | { readonly problem: string };

/** Valid but for a field that only sessions have. */
const withIdleTimeout = fc
  .tuple(validInput, validDuration)
  .map(([input, idleTimeout]) => (isJsonObject(input) ? { ...input, idleTimeout } : input));

/** Two places are damaged at the most: more of them hide one another. */
const damages = fc.array(damage([...inputFields, 'role', 'content', 'text', 'type', 'id']), {
  maxLength: 2,
});

function nearly(valid: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  return fc.oneof(
    {
      arbitrary: fc.tuple(valid, damages).map(([value, list]) => damagedBy(value, list)),
      weight: 6,
    },
    { arbitrary: anyJson, weight: 1 },
  );
}

function damagedBy(value: JsonValue, list: readonly Damage[]): JsonValue {
  return list.reduce((present: JsonValue, each) => damaged(present, each).value, value);
}

/** One short sentence that begins with the path of a field. */
function expectProblem(problem: string, at: RegExp): void {
  expect(problem).toMatch(at);
  expect(problem).toMatch(/^.{1,400}: .{3,300}\.$/su);
  expect(problem.length).toBeLessThan(500);
  expectWellFormed(problem);
}

/** Temporal writes texts as UTF-8, which has no half of a surrogate pair. */
function expectWellFormed(text: string): void {
  expect(Buffer.from(text).toString()).toBe(text);
}

function expectAsContract(parsed: Parsed, may: boolean, at: RegExp): void {
  if ('problem' in parsed) expectProblem(parsed.problem, at);
  expect({ accepted: 'value' in parsed }).toEqual({ accepted: may });
}

describe('parseAgentInput', () => {
  test(
    'takes what the contract allows and nothing else, and names the field that is wrong',
    holds(
      fc.property(fc.oneof(nearly(validInput), nearly(withIdleTimeout)), (input) => {
        expectAsContract(parseAgentInput(input), mayBeInput(input), /^[\w"]/);
      }),
    ),
  );

  test(
    'names the field that was damaged',
    holds(
      fc.property(validInput, damage(inputFields), (input, each) => {
        fc.pre(typeof input !== 'string');
        const { value, path } = damaged(input, each);
        const parsed = parseAgentInput(value);
        if (!('problem' in parsed) || path.length === 0) return;
        const named = /^(\w+|"(?:[^"\\]|\\.)*"?…?)/u.exec(parsed.problem)?.[0] ?? '';
        const field = path[0] ?? '';
        // Fields that mean something only with another are named themselves.
        const among = [field, 'prompt', 'idleTimeout'];
        const isNamed = among.includes(named) || named.startsWith('"');
        expect({ problem: parsed.problem, path, isNamed }).toMatchObject({ isNamed: true });
      }),
    ),
  );

  test(
    'reads what it has read as the same again',
    holds(
      fc.property(nearly(validInput), (input) => {
        const parsed = parseAgentInput(input);
        if ('problem' in parsed) return;
        const { idleTimeoutMs, ...rest } = parsed.value;
        const again = {
          ...rest,
          ...(idleTimeoutMs === undefined ? {} : { idleTimeout: idleTimeoutMs }),
        };
        expect(parseAgentInput(received(again))).toEqual({ value: received(parsed.value) });
        expect(mayBeInput(received(again))).toBe(true);
      }),
    ),
  );
});

describe.each<
  [string, (input: unknown, at: string) => Parsed, (v: unknown) => boolean, fc.Arbitrary<JsonValue>]
>([
  ['parseInputMessage', parseInputMessage, mayBeInputMessage, validInputMessage],
  ['parsePrompt', parsePrompt, mayBePrompt, validPrompt],
  ['parseTranscript', parseTranscript, mayBeTranscript, validTranscript],
])('%s', (_, parse, may, valid) => {
  test(
    'takes what the contract allows and nothing else, with known fields only',
    holds(
      fc.property(nearly(valid), (input) => {
        const parsed = parse(input, 'field');
        expectAsContract(parsed, may(input), /^field[\w.[\]]*: /);
        if ('problem' in parsed) return;
        expect(unknownFieldsOf(parsed.value)).toEqual([]);
        expect(parse(received(parsed.value), 'field')).toEqual({ value: received(parsed.value) });
      }),
    ),
  );
});

const known: { readonly [kind: string]: readonly string[] } = {
  user: ['role', 'content', 'timestamp'],
  custom: ['role', 'customType', 'content', 'details', 'timestamp'],
  assistant: [
    'role',
    'content',
    'stopReason',
    'usage',
    'provider',
    'model',
    'timestamp',
    'finishReason',
    'errorMessage',
    'responseId',
    'attempts',
  ],
  toolResult: [
    'role',
    'toolCallId',
    'toolName',
    'isError',
    'content',
    'timestamp',
    'details',
    'durationMs',
    'usage',
  ],
  compactionSummary: ['role', 'text', 'timestamp'],
  branchSummary: ['role', 'text', 'timestamp'],
  text: ['type', 'text'],
  image: ['type', 'data', 'mimeType'],
  thinking: ['type', 'thinking', 'field', 'signature'],
  toolCall: ['type', 'id', 'name', 'arguments', 'argumentsError', 'signature'],
};

interface Entry {
  readonly [field: string]: unknown;
}

/** Fields of messages and blocks that the contract does not name. */
function unknownFieldsOf(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).flatMap((entry: Entry) => {
    const names = known[String(entry['role'] ?? entry['type'])] ?? [];
    const own = Object.keys(entry).filter((field) => !names.includes(field));
    const { content } = entry;
    return Array.isArray(content) ? [...own, ...unknownFieldsOf(content)] : own;
  });
}

describe('durations', () => {
  test(
    'are taken where the contract allows them, and come to whole milliseconds',
    holds(
      fc.property(fc.oneof(validDuration, anyJson, anyText), (value) => {
        const problem = durationProblem(value, 'idleTimeout');
        expect(problem === undefined).toBe(mayBeDuration(value));
        if (problem !== undefined) {
          expectProblem(problem, /^idleTimeout: /);
          return;
        }
        const ms = toMilliseconds(value as string | number);
        expect(Number.isSafeInteger(ms) && ms >= 1).toBe(true);
        expect(durationProblem(ms, 'idleTimeout')).toBeUndefined();
      }),
    ),
  );
});

describe('decodePayload', () => {
  const encoding = fc.oneof(
    fc.constantFrom(
      'json/plain',
      'binary/null',
      'binary/plain',
      'json/protobuf',
      'binary/protobuf',
    ),
    fc.constantFrom(
      'binary/encrypted',
      'holdfast/refused-reference',
      'json/external-storage-reference',
      '',
    ),
    anyText,
  );
  const data = fc.oneof(
    anyJson.map((value) => Buffer.from(JSON.stringify(value))),
    fc
      .tuple(anyJson, fc.nat(30))
      .map(([value, cut]) => Buffer.from(JSON.stringify(value)).subarray(0, cut)),
    fc.uint8Array({ maxLength: 40 }),
    fc.constantFrom(Buffer.from('\ufeff{}'), Buffer.from('[]]'), Buffer.from('nul')),
    fc.constant(undefined),
    fc.constant(null),
  );
  const metadata = fc.oneof(
    { arbitrary: encoding.map((text) => ({ encoding: Buffer.from(text) })), weight: 6 },
    {
      arbitrary: fc
        .tuple(
          encoding,
          fc.constantFrom('messageType', 'encoding2'),
          fc.uint8Array({ maxLength: 9 }),
        )
        .map(([text, key, bytes]) => ({ encoding: Buffer.from(text), [key]: bytes })),
      weight: 2,
    },
    { arbitrary: fc.constantFrom(undefined, null, {}), weight: 1 },
  );

  test(
    'makes a value, nothing or a reason of any bytes under any encoding',
    holds(
      fc.property(metadata, data, (given, bytes) => {
        const decoded = decodePayload({ payload: { metadata: given, data: bytes } } as RawValue);
        // Nothing but JSON comes out: it can be written again.
        if (decoded.kind === 'value') expect(received(decoded.value)).toEqual(decoded.value);
        const { reason } =
          decoded.kind === 'undecodable' ? decoded : { reason: 'The argument fits.' };
        expect(reason).toMatch(/^The argument .{3,300}[.)]$/s);
        expectWellFormed(reason);
      }),
    ),
  );

  test(
    'gives the value of JSON as it was',
    holds(
      fc.property(anyJson, (value) => {
        const payload = {
          metadata: { encoding: Buffer.from('json/plain') },
          data: Buffer.from(JSON.stringify(value)),
        };
        const decoded = decodePayload({ payload } as unknown as RawValue);
        expect(decoded).toEqual(
          value === null ? { kind: 'absent' } : { kind: 'value', value: received(value) },
        );
      }),
    ),
  );
});
