import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/protocol/events.js';
import { EventLog } from '../../src/workflows/event-log.js';
import { Transcript } from '../../src/workflows/transcript.js';
import { assistantMessage, toolCall } from '../support/loop-values.js';
import { expectFits, readEvents } from '../support/pages.js';

const none = new Transcript();
const rejected = (reason: string): AgentEvent => ({ type: 'rejected', kind: 'steer', reason });

function logOf(...events: readonly AgentEvent[]): EventLog {
  const log = new EventLog();
  for (const [index, event] of events.entries()) log.emit(event, index);
  return log;
}

describe('the event log', () => {
  test('numbers events from 1, rising by one', () => {
    const log = logOf({ type: 'agent_start' }, { type: 'turn_start', turn: 1 });
    expect(log.page({}, none, true)).toEqual({
      events: [
        { type: 'agent_start', seq: 1, at: 0 },
        { type: 'turn_start', turn: 1, seq: 2, at: 1 },
      ],
      next: 2,
      first: 1,
      open: true,
    });
  });

  test('keeps the last 20,000 at least, drops the oldest and says which is first', () => {
    const log = new EventLog();
    for (let i = 1; i <= 60_000; i++) log.emit({ type: 'turn_start', turn: i }, i);
    const { first, events } = log.page({ limit: 1 }, none, true);
    expect(first).toBeGreaterThan(60_000 - 25_001);
    expect(first).toBeLessThanOrEqual(40_001);
    expect(events).toEqual([{ type: 'turn_start', turn: first, seq: first, at: first }]);
    const seqs = readEvents(log, none).map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: 60_001 - first }, (_, i) => first + i));
  });

  test('a late reader is served from the first that is kept, and told of the gap', () => {
    const log = new EventLog();
    for (let i = 1; i <= 30_000; i++) log.emit({ type: 'turn_start', turn: i }, i);
    const page = log.page({ after: 17, limit: 1 }, none, true);
    expect(page.first).toBeGreaterThan(18);
    expect(page.events[0]?.seq).toBe(page.first);
  });

  test.each([3, 4, Number.MAX_SAFE_INTEGER])(
    'after %i, at or beyond the end, waits there',
    (after) => {
      const log = logOf(rejected('a'), rejected('b'), rejected('c'));
      expect(log.page({ after }, none, true)).toEqual({
        events: [],
        next: 3,
        first: 1,
        open: true,
      });
    },
  );

  test('an empty log says so', () => {
    const log = new EventLog();
    expect(log.page({}, none, true)).toEqual({ events: [], next: 0, first: 1, open: true });
  });

  test('stays open to a reader until the last event of a closed session is read', () => {
    const log = logOf(rejected('a'), rejected('b'));
    expect(log.page({ limit: 1 }, none, false).open).toBe(true);
    expect(log.page({ after: 1 }, none, false).open).toBe(false);
    expect(log.page({ after: 2 }, none, false).open).toBe(false);
    expect(log.page({ after: 2 }, none, true).open).toBe(true);
  });

  test.each([1, 2, 3])('a limit of %i is kept and nothing is lost', (limit) => {
    const log = logOf(...'abcde'.split('').map((text) => rejected(text)));
    expect(log.page({ limit }, none, true).events).toHaveLength(limit);
    expect(readEvents(log, none, limit).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('contents of events', () => {
  test('come from the transcript: messages, arguments and results', () => {
    const transcript = new Transcript();
    const log = new EventLog();
    const ids = { toolCallId: 'a', toolName: 'echo' };
    transcript.append(assistantMessage([toolCall('a', 'echo', { x: 1 })], 'toolUse'), 5);
    log.emit({ type: 'message_end', message: 0 }, 5);
    log.emit({ type: 'tool_execution_start', ...ids, message: 0 }, 6);
    log.emit({ type: 'tool_execution_end', ...ids, isError: false }, 7);
    const before = log.page({}, transcript, true).events;
    expect(before[0]).toMatchObject({ content: transcript.at(0) });
    expect(before[1]).toMatchObject({ args: { x: 1 } });
    expect(before[2]).not.toHaveProperty('result');

    const result = { content: [{ type: 'text' as const, text: 'out' }], isError: false };
    log.holdResult('a', result);
    expect(log.page({}, transcript, true).events[2]).toMatchObject({ result });
    transcript.append({ role: 'toolResult', ...ids, ...result }, 8);
    log.forgetResults();
    expect(log.page({}, transcript, true).events[2]).toMatchObject({ result });
  });

  test('larger than 32 KB are left out, and the event says so', () => {
    const transcript = new Transcript();
    const log = new EventLog();
    for (const [index, length] of [31_800, 32_100].entries()) {
      transcript.append({ role: 'user', content: 'x'.repeat(length) }, index);
      log.emit({ type: 'message_end', message: index }, index);
    }
    const [fits, large] = log.page({}, transcript, true).events;
    expect(fits).toHaveProperty('content');
    expect(fits).not.toHaveProperty('omitted');
    expect(large).not.toHaveProperty('content');
    expect(large).toMatchObject({ omitted: true });
  });

  test('an event that names what is not there is reported without it', () => {
    const log = logOf(
      { type: 'message_end', message: 7 },
      { type: 'tool_execution_start', toolCallId: '__proto__', toolName: 'x', message: 7 },
      { type: 'tool_execution_end', toolCallId: 'constructor', toolName: 'x', isError: true },
    );
    expect(log.page({}, none, true).events).toHaveLength(3);
  });
});

describe('pages of events', () => {
  test.each<[string, AgentEvent]>([
    ['a reason of 1 MB', rejected('\u0001'.repeat(1_000_000))],
    [
      'an approval with ids and a reason of 100 KB each',
      {
        type: 'approval_resolved',
        toolCallId: '"'.repeat(100_000),
        toolName: '🦉'.repeat(25_000),
        approved: false,
        reason: '\ud800'.repeat(100_000),
      },
    ],
    [
      'a tool call with an id of 100 KB of control characters',
      {
        type: 'tool_execution_end',
        toolCallId: '\u0000'.repeat(100_000),
        toolName: 'x',
        isError: true,
      },
    ],
    [
      'the end of a turn with 50,000 results',
      { type: 'turn_end', turn: 1, toolResults: Array.from({ length: 50_000 }, (_, i) => i) },
    ],
    [
      'the end of a run with a long error and 10,000 undelivered messages',
      {
        type: 'agent_end',
        messages: { from: 0, to: 1 },
        stopReason: 'error',
        errorMessage: '🦉'.repeat(200_000),
        undelivered: Array.from({ length: 10_000 }, () => ({
          kind: 'steer' as const,
          preview: '漢'.repeat(200),
        })),
      },
    ],
  ])('%s fits between others, cut and marked, with its number', (_, event) => {
    const log = logOf(rejected('before'), event, rejected('after'));
    const page = log.page({}, none, true);
    expectFits(page);
    expect(page.events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(page.events[1]).toMatchObject({ type: event.type, seq: 2, at: 1, omitted: true });
    expect(page.events[2]).not.toHaveProperty('omitted');
  });

  test('the result of a call with a long id is still found', () => {
    const transcript = new Transcript();
    const toolCallId = 'x'.repeat(100_000);
    const text = { type: 'text' as const, text: 'out' };
    transcript.append(
      { role: 'toolResult', toolCallId, toolName: 'echo', content: [text], isError: false },
      1,
    );
    const log = logOf({ type: 'tool_execution_end', toolCallId, toolName: 'echo', isError: false });
    expect(log.page({}, transcript, true).events[0]).toMatchObject({ result: { content: [text] } });
  });
});
