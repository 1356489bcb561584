// Signals and submitted inputs in any order, with any arguments, at any moment of a session's life, compared
// with the state machine of session-model.ts after each of them.

import fc from 'fast-check';
import { describe, test, vi } from 'vitest';
import { signalKinds } from '../../src/protocol/events.js';
import type { SignalKind } from '../../src/protocol/events.js';
import { isJsonObject } from '../../src/protocol/json.js';
import type { JsonObject, JsonValue } from '../../src/protocol/json.js';
import type { QueueMode } from '../../src/protocol/session.js';
import { holds } from './cases.js';
import { validInputMessage, validPrompt } from './input-contract.js';
import { anyJson, anyText, damage, damaged } from './json-values.js';
import { SessionPair } from './session-pair.js';
import type { Command, PairSetting } from './session-pair.js';

vi.mock(import('@temporalio/workflow'), async (original) => ({
  ...(await original()),
  setCurrentDetails: () => undefined,
}));

const callIds = ['call-1', 'call-2', '__proto__'] as const;

const someId = fc.oneof(
  { arbitrary: fc.constantFrom('a', 'b', 'c', '', '__proto__'), weight: 4 },
  { arbitrary: anyText, weight: 1 },
  { arbitrary: fc.constantFrom(null, 5, {}, 'x'.repeat(200), 'x'.repeat(201)), weight: 1 },
);

/** Puts an id into an argument that is an object. */
const withId = (argument: fc.Arbitrary<JsonValue | undefined>) =>
  fc
    .tuple(argument, fc.option(someId, { nil: undefined }))
    .map(([value, id]) =>
      id === undefined || !isJsonObject(value) ? value : ({ ...value, id } as JsonObject),
    );

const nearly = (valid: fc.Arbitrary<JsonValue>) =>
  fc
    .tuple(valid, fc.option(damage(['role', 'content', 'text', 'id']), { nil: undefined }))
    .map(([value, each]) => (each === undefined ? value : damaged(value, each).value));

const answer = fc.oneof(
  fc.constantFrom<JsonValue | undefined>(undefined, null, '', ...callIds, 'too risky', {}),
  fc
    .record(
      {
        toolCallId: fc.oneof(fc.constantFrom(...callIds), fc.constantFrom('other', null, 5)),
        reason: fc.constantFrom('no', null, 7),
        text: fc.constantFrom('nope', 3),
        unknown: fc.constant(1),
      },
      { requiredKeys: [] },
    )
    .map((fields) => fields as JsonValue),
);

const argumentOf: { readonly [kind in SignalKind]: fc.Arbitrary<JsonValue | undefined> } = {
  steer: nearly(validInputMessage),
  followUp: nearly(validInputMessage),
  prompt: nearly(validPrompt),
  continue: fc.constant(undefined),
  abort: fc.constantFrom(undefined, 'enough', { reason: 'enough' }, { reason: 5 }),
  approve: answer,
  deny: answer,
  close: fc.constant(undefined),
};

const signalName = fc.constantFrom<SignalKind>(
  ...signalKinds.filter((kind) => kind !== 'close'),
  ...(['steer', 'followUp', 'prompt', 'approve', 'deny'] as const),
);

const signal = fc
  .oneof(
    { arbitrary: signalName, weight: 30 },
    { arbitrary: fc.constant<SignalKind>('close'), weight: 1 },
  )
  .chain((name) =>
    withId(
      fc.oneof(
        { arbitrary: argumentOf[name], weight: 6 },
        { arbitrary: anyJson as fc.Arbitrary<JsonValue | undefined>, weight: 1 },
      ),
    ).map((argument) => ({ name, argument })),
  );

const own = fc.constantFrom<Command>(
  { kind: 'begin run' },
  { kind: 'begin run' },
  { kind: 'end run' },
  { kind: 'take steering' },
  { kind: 'take follow-ups' },
  { kind: 'answer' },
  { kind: 'fail' },
);

const command: fc.Arbitrary<Command> = fc.oneof(
  { arbitrary: signal.map((given): Command => ({ kind: 'signal', ...given })), weight: 8 },
  {
    arbitrary: fc
      .tuple(signal, fc.option(someId, { nil: undefined }))
      .map(([{ name, argument }, id]): Command => {
        const message = argument === undefined ? {} : { message: argument };
        const fields = { kind: name, ...message, ...(id === undefined ? {} : { id }) };
        return { kind: 'submit', argument: fields as JsonObject };
      }),
    weight: 5,
  },
  { arbitrary: anyJson.map((argument): Command => ({ kind: 'submit', argument })), weight: 1 },
  {
    arbitrary: fc
      .tuple(signalName, fc.uint8Array({ maxLength: 20 }))
      .map(([name, bytes]): Command => ({ kind: 'garbage', name, bytes })),
    weight: 1,
  },
  { arbitrary: own, weight: 6 },
  {
    arbitrary: fc
      .subarray([...callIds], { minLength: 1 })
      .map((calls): Command => ({ kind: 'ask', calls })),
    weight: 3,
  },
);

/** Floods are rare, and take the ids of what came long before out of memory. */
const commands = fc.oneof(
  { arbitrary: fc.array(command, { maxLength: 40, size: 'max' }), weight: 30 },
  {
    arbitrary: fc
      .tuple(
        fc.array(command, { maxLength: 15 }),
        fc.constantFrom(998, 999, 1_000, 1_001, 1_005),
        fc.array(command, { maxLength: 15 }),
      )
      // What was sent before comes once more.
      .map(([before, upTo, after]) => [
        ...before,
        { kind: 'flood', upTo } as const,
        ...before,
        ...after,
      ]),
    weight: 1,
  },
);

const setting: fc.Arbitrary<PairSetting> = fc.record({
  lifetime: fc.oneof(
    { arbitrary: fc.constant('session' as const), weight: 5 },
    { arbitrary: fc.constant('run' as const), weight: 1 },
  ),
  steeringMode: fc.constantFrom<QueueMode>('one-at-a-time', 'all'),
  followUpMode: fc.constantFrom<QueueMode>('one-at-a-time', 'all'),
  prompt: fc.constantFrom(undefined, 'first'),
});

describe('signals and submitted inputs', () => {
  test(
    'are started, queued, accepted, duplicates or rejected as documented, each message in one place',
    holds(
      fc.asyncProperty(setting, commands, async (given, list) => {
        const pair = new SessionPair(given);
        for (const each of list) await pair.take(each);
        pair.expectAllAccounted();
      }),
    ),
  );
});
