import { describe, expect, test } from 'vitest';
import type { AgentEvent, LoggedEvent } from '../../src/protocol/events.js';
import type { Message } from '../../src/protocol/messages.js';
import { findViolations } from '../../src/testing/invariants.js';
import type { SessionRecord } from '../../src/testing/session-record.js';
import { assistantMessage, toolCall, userMessage } from '../support/loop-values.js';

const result = (id: string, isError = false) => ({
  role: 'toolResult' as const,
  toolCallId: id,
  toolName: 'echo',
  content: [],
  isError,
});
const at = (messages: readonly object[]) =>
  messages.map((message) => ({ ...message, timestamp: 0 }) as Message);

/** A prompt, two calls, their results, an answer. */
const messages = at([
  userMessage('hello'),
  assistantMessage([toolCall('c1'), toolCall('c2')], 'toolUse'),
  result('c1'),
  result('c2'),
  assistantMessage([], 'stop'),
]);
const announce = (...indices: number[]): AgentEvent[] =>
  indices.flatMap((message) => [
    { type: 'message_start', message },
    { type: 'message_end', message },
  ]);
const starts = (id: string): AgentEvent => ({
  type: 'tool_execution_start',
  toolCallId: id,
  toolName: 'echo',
  message: 1,
});
const ends = (id: string): AgentEvent => ({
  type: 'tool_execution_end',
  toolCallId: id,
  toolName: 'echo',
  isError: false,
});
const events: readonly AgentEvent[] = [
  { type: 'agent_start' },
  { type: 'turn_start', turn: 1 },
  ...announce(0, 1),
  starts('c1'),
  starts('c2'),
  ends('c2'),
  ends('c1'),
  ...announce(2, 3),
  { type: 'turn_end', turn: 1, message: 1, toolResults: [2, 3] },
  { type: 'turn_start', turn: 2 },
  ...announce(4),
  { type: 'turn_end', turn: 2, message: 4, toolResults: [] },
  { type: 'agent_end', messages: { from: 0, to: 5 }, stopReason: 'stop' },
];
const logged = (list: readonly AgentEvent[]): LoggedEvent[] =>
  list.map((event, index) => ({ ...event, seq: index + 1, at: 0 }));

const good: SessionRecord = {
  events: logged(events),
  messages,
  inputs: [{ message: 'hello' }],
  executed: ['c1', 'c2'],
  replayed: logged(events),
};
const withoutEvent = (match: (event: AgentEvent) => boolean) => {
  const index = events.findIndex((event) => match(event));
  return logged(events.filter((_, position) => position !== index));
};
const movedToEnd = (match: (event: AgentEvent) => boolean) => {
  const found = events.filter((event) => match(event));
  return logged([...events.filter((event) => !match(event)), ...found]);
};
const swapped = (a: number, b: number) => {
  const list = [...messages];
  [list[a], list[b]] = [list[b] as Message, list[a] as Message];
  return list;
};

const wait: readonly AgentEvent[] = [
  { type: 'workspace_wait_start', workspace: 'w', waitMs: 1_000 },
  { type: 'workspace_wait_end', workspace: 'w', reached: true },
];
const withWait = events.flatMap((event) =>
  event.type === 'tool_execution_end' && event.toolCallId === 'c2' ? [...wait, event] : [event],
);

const steered = at([...messages.slice(0, 3), userMessage('between'), ...messages.slice(3)]);
const cutOff = at([
  userMessage('hello'),
  assistantMessage([toolCall('c1')], 'length'),
  result('c1', true),
]);

describe('findViolations', () => {
  test('a good session has none', () => {
    expect(findViolations(good)).toEqual([]);
    expect(
      findViolations({ ...good, events: logged(withWait), replayed: logged(withWait) }),
    ).toEqual([]);
  });

  test.each<[string, Partial<SessionRecord>, RegExp]>([
    ['1: a result is missing', { messages: messages.filter((_, i) => i !== 3) }, /result of c2/],
    ['1: results in another order', { messages: swapped(2, 3) }, /result of c1, but is c2/],
    ['1: a result twice', { messages: at([...messages, result('c1')]) }, /nobody asked/],
    ['2: a message before the last result', { messages: steered }, /result of c2, but is user/],
    [
      '3: a call of a cut-off message ran',
      { messages: cutOff, executed: ['c1'] },
      /length was executed/,
    ],
    [
      '3: a call of an errored message ran',
      {
        messages: at([userMessage('hello'), assistantMessage([toolCall('c1')], 'error')]),
        executed: ['c1'],
      },
      /error was executed/,
    ],
    [
      '4: an input is nowhere',
      { inputs: [{ message: 'hello' }, { message: 'lost' }] },
      /"lost" was sent 1 times/,
    ],
    [
      '4: an input is in the transcript and still queued',
      { queued: [{ kind: 'steer', preview: 'hello' }] },
      /1 times in the transcript, 1 times waiting/,
    ],
    [
      '4: an input is in the transcript twice',
      { messages: at([...messages, userMessage('hello')]) },
      /2 times/,
    ],
    [
      '5: a start without an end',
      { events: withoutEvent(({ type }) => type === 'message_end') },
      /has no end/,
    ],
    [
      '5: an end without a start',
      { events: withoutEvent(({ type }) => type === 'message_start') },
      /has no start/,
    ],
    ['5: no turn_end', { events: withoutEvent(({ type }) => type === 'turn_end') }, /no turn_end/],
    [
      '5: no agent_end',
      { events: withoutEvent(({ type }) => type === 'agent_end') },
      /no agent_end/,
    ],
    [
      '5: no agent_start',
      { events: withoutEvent(({ type }) => type === 'agent_start') },
      /no run is active/,
    ],
    [
      '5: two agent_start',
      { events: logged([{ type: 'agent_start' }, ...events]) },
      /active already/,
    ],
    [
      '5: something after agent_end',
      { events: movedToEnd(({ type }) => type === 'turn_end') },
      /no run is active/,
    ],
    [
      '5: a result after its turn_end',
      {
        events: logged(
          events.flatMap((event) => {
            if ('message' in event && event.message === 3) return [];
            return event.type === 'turn_end' && event.turn === 1
              ? [event, ...announce(3)]
              : [event];
          }),
        ),
      },
      /names the results 2,3, not 2/,
    ],
    [
      '5: a tool without an end',
      { events: withoutEvent(({ type }) => type === 'tool_execution_end') },
      /still executing|before its tool_execution_end/,
    ],
    [
      '5: a wait for a workspace without an end',
      { events: logged(withWait.filter(({ type }) => type !== 'workspace_wait_end')) },
      /calls still wait for a worker/,
    ],
    [
      '5: the end of a wait without a start',
      { events: logged(withWait.filter(({ type }) => type !== 'workspace_wait_start')) },
      /workspace_wait_end: has no start/,
    ],
    [
      '5: a wait for a workspace that no call is in need of',
      { events: logged([...events.slice(0, 2), ...wait, ...events.slice(2)]) },
      /no call is executing/,
    ],
    [
      '6: a wait for a workspace begins after the abort',
      { events: logged(withWait), abortedAfter: [8] },
      /workspace_wait_start: begins after the abort/,
    ],
    [
      '5: a tool end without a start',
      { events: withoutEvent(({ type }) => type === 'tool_execution_start') },
      /has no start/,
    ],
    [
      '6: agent_end names another range',
      {
        events: logged(
          events.with(-1, { type: 'agent_end', messages: { from: 1, to: 5 }, stopReason: 'stop' }),
        ),
      },
      /names the messages 1,2,3,4/,
    ],
    [
      '7: a gap in the numbers',
      { events: good.events.filter(({ seq }) => seq !== 5) },
      /seq 6 follows 4/,
    ],
    [
      '8: a tool starts after the abort',
      { abortedAfter: [6] },
      /tool_execution_start: begins after the abort/,
    ],
    [
      '8: a turn starts after the abort',
      { abortedAfter: [12] },
      /turn_start: begins after the abort/,
    ],
    ['9: the replay differs', { replayed: good.events.slice(1) }, /replay gave other events/],
  ])('%s', (_name, change, complaint) => {
    expect(findViolations({ ...good, ...change }).join('\n')).toMatch(complaint);
  });

  test('an input may be queued, undelivered or rejected instead', () => {
    const end = events.at(-1) as Extract<AgentEvent, { type: 'agent_end' }>;
    const undelivered = [{ kind: 'steer' as const, preview: 'too late' }];
    const record: SessionRecord = {
      events: logged([
        ...events.slice(0, -1),
        { type: 'rejected', kind: 'prompt', id: 'p-2', reason: 'busy' },
        { ...end, undelivered },
      ]),
      messages,
      inputs: [
        { message: 'hello' },
        { message: 'waits' },
        { id: 'p-2', message: 'no' },
        { message: 'too late' },
        {
          id: 's-1',
          message: { role: 'user', content: [{ type: 'image', data: '', mimeType: 'image/png' }] },
        },
        { id: 's-1', message: 'the same id counts once' },
      ],
      queued: [
        { kind: 'followUp', preview: 'waits' },
        { kind: 'steer', preview: '', images: 1 },
        ...undelivered,
      ],
    };
    expect(findViolations(record)).toEqual([]);
  });

  test('a run aborted before it began may take its prompt in', () => {
    const record: SessionRecord = {
      events: logged([
        { type: 'agent_start' },
        { type: 'turn_start', turn: 1 },
        ...announce(0),
        { type: 'turn_end', turn: 1, toolResults: [] },
        { type: 'agent_end', messages: { from: 0, to: 1 }, stopReason: 'aborted' },
      ]),
      messages: messages.slice(0, 1),
      abortedAfter: [0],
    };
    expect(findViolations(record)).toEqual([]);
  });
});
