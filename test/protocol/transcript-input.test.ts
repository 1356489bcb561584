import { describe, expect, test } from 'vitest';
import { zeroUsage } from '../../src/protocol/messages.js';
import { parseTranscript } from '../../src/protocol/transcript-input.js';

const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;
const call = (id: string) => ({ type: 'toolCall', id, name: 'echo', arguments: { a: 1 } });
const answer = (content: readonly unknown[], stopReason = 'toolUse') => ({
  role: 'assistant',
  content,
  stopReason,
  usage: zeroUsage,
  provider: 'p',
  model: 'm',
});
const result = (toolCallId: string) => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'echo',
  isError: false,
  content: [],
});
// oxlint-disable-next-line no-sparse-arrays -- a hole is what is tested
const listWithHole = [{ role: 'user', content: 'hi' }, , { role: 'user', content: 'hi' }];
const text = { type: 'text', text: 'hi' };
const user = { role: 'user', content: 'hi' };

function problemOf(messages: unknown): string | undefined {
  const parsed = parseTranscript(messages, 'messages');
  return 'problem' in parsed ? parsed.problem : undefined;
}

describe('parseTranscript', () => {
  test('reads every kind of message with all its fields', () => {
    const messages = [
      { ...user, timestamp: 5 },
      { role: 'custom', customType: 'note', content: [text], details: [null], timestamp: 0 },
      { role: 'compactionSummary', text: 'earlier' },
      { role: 'branchSummary', text: '' },
      {
        ...answer([
          text,
          { type: 'thinking', thinking: 'hm', field: 'reasoning', signature: { a: [1] } },
          { ...call('c1'), signature: { s: 'x' } },
          { ...call('c2'), argumentsError: { message: 'bad', raw: '{' } },
        ]),
        usage: { ...zeroUsage, cost: 0.5 },
        finishReason: 'tool_calls',
        errorMessage: 'e',
        responseId: 'r',
        attempts: 2,
        timestamp: 7,
      },
      { ...result('c1'), details: { d: 1 }, durationMs: 3, usage: zeroUsage },
      result('c2'),
    ];
    expect(parseTranscript(messages, 'messages')).toEqual({ value: messages });
  });

  test('leaves out what no message has, and nulls that stand for nothing', () => {
    const junk = { usage: null, junk: 1, timestamp: null };
    expect(
      parseTranscript(
        [
          { ...user, ...junk },
          { ...answer([{ ...call('c1'), signature: null, junk: 1 }]), junk: 1, attempts: null },
          { ...result('c1'), ...junk, durationMs: null },
        ],
        'messages',
      ),
    ).toEqual({ value: [user, answer([call('c1')]), result('c1')] });
  });

  test('keeps arguments byte for byte, in the order of their fields', () => {
    const args = JSON.parse('{"z":1,"__proto__":{"x":1},"a":"\\ud800"}') as object;
    const parsed = parseTranscript(
      [answer([{ ...call('c1'), arguments: args }]), result('c1')],
      'messages',
    );
    expect(JSON.stringify(parsed)).toContain(JSON.stringify(args));
  });

  test.each<[unknown, string]>([
    ['x', 'messages: expected a list of messages, got "x".'],
    [{ 0: user, length: 1 }, 'messages: expected a list of messages, got an object.'],
    [listWithHole, 'messages[1]: expected a message, got nothing.'],
    [['hi'], 'messages[0]: expected a message, got "hi".'],
    [
      [{ role: 'system', content: 'x' }],
      'messages[0].role: expected user or assistant or toolResult or custom or compactionSummary or branchSummary, got "system".',
    ],
    [
      [{ role: 'toString' }],
      'messages[0].role: expected user or assistant or toolResult or custom or compactionSummary or branchSummary, got "toString".',
    ],
    [[{ ...user, timestamp: '5' }], 'messages[0].timestamp: expected milliseconds, got "5".'],
    [
      [{ ...user, timestamp: Infinity }],
      'messages[0].timestamp: expected milliseconds, got Infinity.',
    ],
    [[{ role: 'branchSummary' }], 'messages[0].text: expected a string, got nothing.'],
    [[answer('x' as never)], 'messages[0].content: expected a list of blocks, got "x".'],
    [
      [answer([{ type: 'image' }])],
      'messages[0].content[0].type: expected text, thinking or toolCall, got "image".',
    ],
    [
      [answer([{ type: 'constructor' }])],
      'messages[0].content[0].type: expected text, thinking or toolCall, got "constructor".',
    ],
    [
      [answer([{ type: 'thinking' }])],
      'messages[0].content[0].thinking: expected a string, got nothing.',
    ],
    [
      [answer([{ ...call('c'), arguments: '{}' }])],
      'messages[0].content[0].arguments: expected an object, got "{}".',
    ],
    [[answer([{ ...call(''), id: '' }])], 'messages[0].content[0].id: expected a name, got "".'],
    [
      [answer([{ ...call('c'), argumentsError: 'x' }])],
      'messages[0].content[0].argumentsError: expected an object, got "x".',
    ],
    [
      [{ ...answer([]), stopReason: 'end' }],
      'messages[0].stopReason: expected one of stop, length, toolUse, error, aborted, got "end".',
    ],
    [[{ ...answer([]), usage: null }], 'messages[0].usage: expected an object, got null.'],
    [
      [{ ...answer([]), usage: { ...zeroUsage, total: '5' } }],
      'messages[0].usage.total: expected a number, got "5".',
    ],
    [
      [{ ...answer([]), usage: { ...zeroUsage, cost: '1' } }],
      'messages[0].usage.cost: expected a number, got "1".',
    ],
    [[{ ...result('c'), isError: 'no' }], 'messages[0].isError: expected true or false, got "no".'],
    [[{ ...result('c'), usage: 5 }], 'messages[0].usage: expected an object, got 5.'],
    [[{ ...user, content: nested(10_000) }], 'messages[0]: nested deeper than 128 levels.'],
    [
      [answer([{ ...call('c'), arguments: { a: nested(10_000) } }])],
      'messages[0]: nested deeper than 128 levels.',
    ],
  ])('refuses transcript %# in one sentence that names the field', (messages, problem) => {
    expect(problemOf(messages)).toBe(problem);
  });

  test.each<[string, readonly unknown[], string | undefined]>([
    [
      'a call without a result at the end',
      [answer([call('a')])],
      'messages[1]: expected the result of the tool call "a".',
    ],
    [
      'a call without a result before a message',
      [answer([call('a'), call('b')]), result('a'), user],
      'messages[2]: expected the result of the tool call "b".',
    ],
    [
      'a result without a call',
      [user, result('a')],
      'messages[1].toolCallId: no call before it has the id "a".',
    ],
    [
      'a second result',
      [answer([call('a')]), result('a'), result('a')],
      'messages[2].toolCallId: no call before it has the id "a".',
    ],
    [
      'a result of an errored answer',
      [answer([call('a')], 'error'), result('a')],
      'messages[1].toolCallId: no call before it has the id "a".',
    ],
    [
      'two calls with one id',
      [answer([call('a'), call('a')]), result('a')],
      'messages[0].content: two tool calls have the same id.',
    ],
    [
      'results in another order',
      [answer([call('a'), call('b')]), result('b'), result('a')],
      undefined,
    ],
    ['an aborted answer with calls', [answer([call('a')], 'aborted'), user], undefined],
    [
      'a cut answer with its results',
      [answer([call('a')], 'length'), result('a'), user],
      undefined,
    ],
    [
      'an id used again in a later turn',
      [answer([call('a')]), result('a'), answer([call('a')]), result('a')],
      undefined,
    ],
  ])('%s', (_, messages, problem) => {
    expect(problemOf(messages)).toBe(problem);
  });
});
