// What a model call sends of a transcript, however it came about: in an order that every server takes.

import fc from 'fast-check';
import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { convertToLlm } from '../../src/activities/model/chat-messages.js';
import type { ModelQuirks } from '../../src/activities/definitions.js';
import type { JsonValue } from '../../src/protocol/json.js';
import { toolCallsOf } from '../../src/protocol/messages.js';
import type { Message } from '../../src/protocol/messages.js';
import { modelDefinition } from '../activities/model/model-fixtures.js';
import { holds } from './cases.js';
import { validTranscript } from './input-contract.js';

type WireMessage = OpenAI.ChatCompletionMessageParam;

/** A transcript that may have lost messages, or have them in another order, as crashes and imports leave it. */
const transcript = fc
  .tuple(
    validTranscript,
    fc.array(fc.tuple(fc.nat(20), fc.nat(20), fc.constantFrom('drop', 'move', 'repeat')), {
      maxLength: 4,
    }),
  )
  .map(([valid, changes]) => {
    const messages = (valid as unknown as readonly Message[]).map((message, index) => ({
      ...message,
      timestamp: index,
    }));
    for (const [from, to, kind] of changes) {
      if (messages.length === 0) break;
      const at = from % messages.length;
      const [message] = messages.slice(at, at + 1);
      if (kind !== 'repeat') messages.splice(at, 1);
      if (kind !== 'drop' && message !== undefined) {
        messages.splice(to % (messages.length + 1), 0, message);
      }
    }
    return messages as readonly Message[];
  });

const quirks: fc.Arbitrary<ModelQuirks> = fc.record(
  {
    returnReasoning: fc.boolean(),
    emptyContent: fc.constantFrom('null', 'empty-string'),
    toolResultName: fc.boolean(),
    assistantAfterToolResult: fc.boolean(),
    toolCallIds: fc.constantFrom('as-is', 'nine-alphanumerics'),
    images: fc.boolean(),
  },
  { requiredKeys: [] },
);

describe('convertToLlm', () => {
  test(
    'answers every call it sends once and directly, and sends no result without its call',
    holds(
      fc.property(transcript, quirks, (messages, given) => {
        const before = JSON.stringify(messages);
        const wire = convertToLlm(messages, modelDefinition({ quirks: given }));
        expect(JSON.stringify(messages)).toBe(before);
        expectAdjacent(wire);
        const sent = wire.flatMap((message) =>
          message.role === 'assistant' ? (message.tool_calls ?? []) : [],
        );
        expect(sent).toHaveLength(messages.flatMap((message) => callsSent(message)).length);
        const users = messages.filter(({ role }) => role !== 'assistant' && role !== 'toolResult');
        // Images of tool results go along in user messages of their own.
        expect(wire.filter(({ role }) => role === 'user').length).toBeGreaterThanOrEqual(
          users.length,
        );
        if (given.assistantAfterToolResult === true) {
          for (const [index, message] of wire.entries()) {
            if (message.role === 'tool') expect(wire[index + 1]?.role).not.toBe('user');
          }
        }
      }),
    ),
  );
});

/** Answers that failed are left out. */
function callsSent(message: Message) {
  if (message.role !== 'assistant') return [];
  const leftOut = message.stopReason === 'error' || message.stopReason === 'aborted';
  return leftOut ? [] : toolCallsOf(message);
}

function expectAdjacent(wire: readonly WireMessage[]): void {
  let owed: string[] = [];
  for (const message of wire) {
    if (message.role === 'tool') {
      expect(message.tool_call_id).toBe(owed.shift());
      expect(message.content).not.toBe('');
      continue;
    }
    expect(owed).toEqual([]);
    if (message.role !== 'assistant') continue;
    owed = (message.tool_calls ?? []).map(({ id }) => id);
    const says = typeof message.content === 'string' && message.content !== '';
    expect(says || owed.length > 0).toBe(true);
    for (const call of message.tool_calls ?? []) {
      const args = call.type === 'function' ? call.function.arguments : '';
      expect(JSON.parse(args) as JsonValue).toBeTypeOf('object');
    }
  }
  expect(owed).toEqual([]);
}
