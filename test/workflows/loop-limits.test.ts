import { describe, expect, test } from 'vitest';
import { textOf } from '../../src/protocol/messages.js';
import { createFakeWorld } from '../support/fake-effects.js';
import type { FakeWorld } from '../support/fake-effects.js';
import { asks, assistantMessage, returns, says, toolCall } from '../support/loop-values.js';

/** An endless model: the same call, each time with its own id. */
function callsForEver(stopReason: 'toolUse' | 'length' = 'toolUse') {
  return Array.from({ length: 300 }, (_, index) =>
    asks([toolCall(`c${index + 1}`)], { stopReason }),
  );
}

function resultTexts({ messages }: FakeWorld): readonly string[] {
  return messages.flatMap((message) =>
    message.role === 'toolResult' ? [textOf(message.content)] : [],
  );
}

describe('runAgentLoop: limits', () => {
  test('L9: a model that repeats the same call endlessly is stopped by maxTurns', async () => {
    const world = createFakeWorld({ replies: callsForEver() });
    expect(await world.run('hello', { maxTurns: 7 })).toEqual({ kind: 'limit', limit: 'maxTurns' });
    expect(world.executed).toHaveLength(7);
    expect(world.transcript().at(-1)).toBe('result c7');
    expect(world.log.slice(-3)).toEqual(['turn_end 7', 'limit_reached', 'agent_end']);
    expect(world.eventsOf('limit_reached')).toMatchObject([{ limit: 'maxTurns', value: 7 }]);
    expect(world.eventsOf('agent_end')).toMatchObject([{ stopReason: 'limit' }]);
  });

  test('the last turn that maxTurns allows ends the run normally', async () => {
    const world = createFakeWorld({ replies: [asks([toolCall('c1')]), says('done')] });
    expect(await world.run('hello', { maxTurns: 2 })).toEqual({ kind: 'finished' });
    expect(world.eventsOf('limit_reached')).toEqual([]);
  });

  test.each(['steer', 'followUp'] as const)(
    'at a limit nothing is polled: a message queued by %s is reason for a turn, stays queued, and the run says so',
    async (kind) => {
      const world = createFakeWorld({
        replies: [says('one')],
        at: { 'completeChat 1': (world) => world[kind]('kept') },
      });
      expect(await world.run('hello', { maxTurns: 1 })).toEqual({
        kind: 'limit',
        limit: 'maxTurns',
      });
      expect(world.waiting()).toEqual(['kept']);
      expect(world.log.slice(-3)).toEqual(['turn_end 1', 'limit_reached', 'agent_end']);
    },
  );

  test('at a limit with tool results to be seen, queued steering stays queued', async () => {
    const world = createFakeWorld({
      replies: callsForEver(),
      at: { 'callTool c1': ({ steer }) => steer('kept') },
    });
    await world.run('hello', { maxTurns: 1 });
    expect(world.waiting()).toEqual(['kept']);
  });

  test('maxTotalTokens counts model calls and what tools report, and is checked between turns', async () => {
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 85 };
    const world = createFakeWorld({
      replies: callsForEver(),
      execute: ({ call }) => returns('ok', call.id === 'c2' ? { usage } : {}),
    });
    expect(await world.run('hello', { maxTotalTokens: 105 })).toEqual({
      kind: 'limit',
      limit: 'maxTotalTokens',
    });
    // 10 + 10 + 85 tokens after the second turn.
    expect(world.eventsOf('turn_end')).toHaveLength(2);
    expect(world.eventsOf('limit_reached')).toMatchObject([
      { limit: 'maxTotalTokens', value: 105 },
    ]);
  });

  test('a run below maxTotalTokens goes on', async () => {
    const world = createFakeWorld({ replies: [asks([toolCall('c1')]), says('done')] });
    expect(await world.run('hello', { maxTotalTokens: 11 })).toEqual({ kind: 'finished' });
  });

  test('a limit of the server ends the run before a further turn', async () => {
    let full = false;
    const world = createFakeWorld({
      replies: callsForEver(),
      exhaustedLimit: () => (full ? { limit: 'history', value: 45_000 } : undefined),
      at: { 'callTool c3': () => (full = true) },
    });
    expect(await world.run('hello')).toEqual({ kind: 'limit', limit: 'history' });
    expect(world.transcript().at(-1)).toBe('result c3');
    expect(world.eventsOf('limit_reached')).toMatchObject([{ limit: 'history', value: 45_000 }]);
  });

  test('a limit of the server that is passed already: the prompt is kept, nothing is started or polled', async () => {
    const world = createFakeWorld({
      replies: [],
      exhaustedLimit: () => ({ limit: 'history', value: 45_000 }),
    });
    world.steer('kept');
    expect(await world.run('hello')).toEqual({ kind: 'limit', limit: 'history' });
    expect(world.log).toEqual([
      'agent_start',
      'turn_start 1',
      'message_start 0',
      'message_end 0',
      'turn_end 1',
      'limit_reached',
      'agent_end',
    ]);
    expect(world.waiting()).toEqual(['kept']);
  });
});

describe('runAgentLoop: answers cut off by the output limit', () => {
  test('L6: no call of the message is executed, each gets an error result, and the run goes on', async () => {
    const half = toolCall('c1', 'echo', { path: 'a.txt', content: 'half of' });
    const world = createFakeWorld({
      replies: [asks([half, toolCall('c2')], { stopReason: 'length' }), says('done')],
      beforeToolCall: () => ({ kind: 'proceed' }),
      afterToolCall: () => ({ kind: 'replaced', fields: {} }),
    });
    expect(await world.run('hello')).toEqual({ kind: 'finished' });
    expect(world.executed).toEqual([]);
    expect(world.log.filter((entry) => entry.includes('ToolCall'))).toEqual([]);
    expect(world.transcript()).toEqual([
      'user hello',
      'assistant length',
      'result c1 error',
      'result c2 error',
      'assistant stop',
    ]);
    for (const text of resultTexts(world)) {
      expect(text).toContain('cut off');
      expect(text).toContain('Nothing was executed');
      expect(text).toContain('smaller pieces');
    }
    expect(world.eventsOf('tool_execution_start')).toHaveLength(2);
    expect(world.eventsOf('tool_execution_end')).toMatchObject([
      { isError: true },
      { isError: true },
    ]);
    expect(world.eventsOf('turn_end')[0]).toMatchObject({ message: 1, toolResults: [2, 3] });
  });

  test('a cut-off answer without calls is an answer', async () => {
    const message = assistantMessage([{ type: 'text', text: 'half' }], 'length');
    const world = createFakeWorld({ replies: [{ kind: 'message', message, prepared: [] }] });
    expect(await world.run()).toEqual({ kind: 'finished' });
    expect(world.eventsOf('agent_end')).toMatchObject([{ stopReason: 'length' }]);
  });

  test('L7: the advice differs when it happens again, and the fifth in a row ends the run', async () => {
    const world = createFakeWorld({ replies: callsForEver('length') });
    expect(await world.run()).toEqual({ kind: 'limit', limit: 'truncatedAnswers' });
    expect(world.transcript().at(-1)).toBe('result c5 error');
    expect(world.eventsOf('limit_reached')).toMatchObject([
      { limit: 'truncatedAnswers', value: 5 },
    ]);
    const [first, second] = resultTexts(world);
    expect(second).not.toEqual(first);
    expect(second).toContain('do not send the same call again');
    expect(world.executed).toEqual([]);
  });

  test('L7: an answer that was not cut off starts the count anew', async () => {
    const cut = (id: string) => asks([toolCall(id)], { stopReason: 'length' });
    const world = createFakeWorld({
      replies: [
        ...['a1', 'a2', 'a3', 'a4'].map((id) => cut(id)),
        asks([toolCall('whole')]),
        ...['b1', 'b2', 'b3', 'b4'].map((id) => cut(id)),
        says('done'),
      ],
    });
    expect(await world.run()).toEqual({ kind: 'finished' });
    const texts = resultTexts(world);
    expect(texts[5]).toEqual(texts[0]);
  });
});
