import { describe, expect, test } from 'vitest';
import { createFakeWorld } from '../support/fake-effects.js';
import {
  asks,
  assistantMessage,
  deferred,
  returns,
  says,
  toolCall,
  toolSpec,
  userMessage,
} from '../support/loop-values.js';

const answered = assistantMessage([{ type: 'text', text: 'earlier' }]);

describe('runAgentLoop: steering', () => {
  test('what was queued while idle follows the prompt in turn 1', async () => {
    const world = createFakeWorld({ replies: [says('hi')] });
    world.steer('early');
    await world.run('hello');
    expect(world.transcript()).toEqual(['user hello', 'user early', 'assistant stop']);
    expect(world.eventsOf('turn_start')).toHaveLength(1);
    expect(world.eventsOf('message_end').map(({ message }) => message)).toEqual([0, 1, 2]);
  });

  test('L1: steering waits for the whole batch and cancels no tool', async () => {
    const world = createFakeWorld({
      replies: [asks([toolCall('c1'), toolCall('c2')]), says('done')],
      at: { 'callTool c1': ({ steer }) => steer('turn left') },
    });
    await world.run('hello', { toolExecution: 'sequential' });
    expect(world.executed.map(({ call }) => call.id)).toEqual(['c1', 'c2']);
    expect(world.transcript()).toEqual([
      'user hello',
      'assistant toolUse',
      'result c1',
      'result c2',
      'user turn left',
      'assistant stop',
    ]);
  });

  test('L14: a message that arrives in a batch never stands between a call and its results', async () => {
    const tools = { c1: deferred<void>(), c2: deferred<void>() };
    const world = createFakeWorld({
      replies: [asks([toolCall('c1'), toolCall('c2')]), says('1'), says('2')],
      execute: async ({ call }) => {
        await tools[call.id as 'c1' | 'c2'].promise;
        return returns('ok');
      },
    });
    const run = world.run('hello');
    await new Promise(setImmediate);
    tools.c1.resolve();
    await new Promise(setImmediate);
    world.steer('between');
    world.followUp('after');
    tools.c2.resolve();
    await run;
    expect(world.transcript()).toEqual([
      'user hello',
      'assistant toolUse',
      'result c1',
      'result c2',
      'user between',
      'assistant stop',
      'user after',
      'assistant stop',
    ]);
  });

  test('steering that arrives during an answer without calls causes a further turn', async () => {
    const world = createFakeWorld({
      replies: [says('one'), says('two')],
      at: { 'completeChat 1': ({ steer }) => steer('wait') },
    });
    await world.run('hello');
    expect(world.transcript()).toEqual([
      'user hello',
      'assistant stop',
      'user wait',
      'assistant stop',
    ]);
  });

  test('one-at-a-time: each model response stands between two queued messages', async () => {
    const world = createFakeWorld({ replies: [says('1'), says('2'), says('3')] });
    world.steer('a');
    world.steer('b');
    world.followUp('c');
    await world.run('hello');
    expect(world.transcript()).toEqual([
      'user hello',
      'user a',
      'assistant stop',
      'user b',
      'assistant stop',
      'user c',
      'assistant stop',
    ]);
  });

  test('mode all: one poll takes everything that waits', async () => {
    const world = createFakeWorld({ replies: [says('1')], steeringMode: 'all' });
    world.steer('a');
    world.steer('b');
    await world.run('hello');
    expect(world.transcript()).toEqual(['user hello', 'user a', 'user b', 'assistant stop']);
  });

  test('L27: a message of an image alone is delivered whole', async () => {
    const image = { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' };
    const world = createFakeWorld({ replies: [says('seen')] });
    world.steer({ role: 'user', content: [image] });
    await world.run('hello');
    expect(world.messages[1]).toMatchObject({ role: 'user', content: [image] });
    expect(world.waiting()).toEqual([]);
  });

  test('pending messages are announced inside the turn they belong to', async () => {
    const world = createFakeWorld({
      replies: [asks([toolCall('c1')]), says('done')],
      at: { 'callTool c1': ({ steer }) => steer('s') },
    });
    await world.run('hello');
    const from = world.log.indexOf('turn_start 2');
    expect(world.log.slice(from, from + 4)).toEqual([
      'turn_start 2',
      'message_start 3',
      'message_end 3',
      'completeChat 2',
    ]);
  });
});

describe('runAgentLoop: follow-ups', () => {
  test('WT-004: a follow-up during a tool call runs in the same run, after the first answer', async () => {
    const world = createFakeWorld({
      replies: [asks([toolCall('c1')]), says('first'), says('second')],
      at: { 'callTool c1': ({ followUp }) => followUp('and then?') },
    });
    expect(await world.run('hello')).toEqual({ kind: 'finished' });
    expect(world.transcript()).toEqual([
      'user hello',
      'assistant toolUse',
      'result c1',
      'assistant stop',
      'user and then?',
      'assistant stop',
    ]);
    expect(world.eventsOf('agent_start')).toHaveLength(1);
    expect(world.eventsOf('agent_end')).toMatchObject([{ messages: { from: 0, to: 6 } }]);
    expect(world.eventsOf('turn_start').map(({ turn }) => turn)).toEqual([1, 2, 3]);
  });

  test('follow-ups are not polled while steering or tool results ask for a turn', async () => {
    const world = createFakeWorld({
      replies: [asks([toolCall('c1')]), says('1'), says('2'), says('3')],
      at: {
        'callTool c1': ({ followUp }) => followUp('f'),
        'completeChat 2': ({ steer }) => steer('s'),
      },
    });
    await world.run('hello');
    expect(world.transcript().slice(3)).toEqual([
      'assistant stop',
      'user s',
      'assistant stop',
      'user f',
      'assistant stop',
    ]);
  });

  test.each([
    ['one-at-a-time', ['user a', 'assistant stop', 'user b', 'assistant stop']],
    ['all', ['user a', 'user b', 'assistant stop']],
  ] as const)('mode %s takes what it says', async (followUpMode, expected) => {
    const world = createFakeWorld({ replies: [says('1'), says('2'), says('3')], followUpMode });
    world.followUp('a');
    world.followUp('b');
    const run = world.run('hello');
    await run;
    expect(world.transcript().slice(2)).toEqual(expected);
  });

  test('L15: a follow-up that arrives right before the end is delivered in this run', async () => {
    const world = createFakeWorld({
      replies: [says('one'), says('two')],
      shouldStopAfterTurn: (turn, { followUp }) => {
        if (turn === 1) followUp('last');
        return { kind: 'answer', stop: false };
      },
    });
    await world.run('hello');
    expect(world.transcript().slice(-2)).toEqual(['user last', 'assistant stop']);
  });

  test('L15: a follow-up that arrives right after the end stays queued, and the next run delivers it', async () => {
    const world = createFakeWorld({ replies: [says('one'), says('two'), says('three')] });
    await world.run('hello');
    world.followUp('late');
    expect(world.waiting()).toEqual(['late']);
    await world.run('again');
    expect(world.transcript().slice(-2)).toEqual(['user late', 'assistant stop']);
  });
});

describe('runAgentLoop: continue', () => {
  test('a plain continuation polls steering and emits no events for what exists', async () => {
    const world = createFakeWorld({ transcript: [userMessage('before')], replies: [says('hi')] });
    world.steer('s');
    await world.run({ kind: 'continue', messages: [], skipFirstSteeringPoll: false });
    expect(world.transcript()).toEqual(['user before', 'user s', 'assistant stop']);
    expect(world.eventsOf('message_end').map(({ message }) => message)).toEqual([1, 2]);
    expect(world.eventsOf('agent_end')).toMatchObject([{ messages: { from: 1, to: 3 } }]);
  });

  test('L14: after an errored message that holds a call, the call stays unanswered and is not executed', async () => {
    const world = createFakeWorld({
      replies: [
        { kind: 'failed', message: assistantMessage([toolCall('c1')], 'error') },
        says('better'),
      ],
    });
    await world.run('hello');
    await world.run({ kind: 'continue', messages: [], skipFirstSteeringPoll: false });
    expect(world.transcript()).toEqual(['user hello', 'assistant error', 'assistant stop']);
    expect(world.executed).toEqual([]);
    expect(world.eventsOf('agent_end')[1]).toMatchObject({ messages: { from: 2, to: 3 } });
  });

  test('a steering batch that stands in for the prompt skips the first steering poll', async () => {
    const world = createFakeWorld({
      transcript: [userMessage('before'), answered],
      replies: [says('1'), says('2')],
    });
    world.steer('b');
    await world.run({
      kind: 'continue',
      messages: [userMessage('a')],
      skipFirstSteeringPoll: true,
    });
    expect(world.transcript().slice(2)).toEqual([
      'user a',
      'assistant stop',
      'user b',
      'assistant stop',
    ]);
  });
});

describe('runAgentLoop: a session that closes', () => {
  test('L34: close during a tool: the run settles every call first and names what stays undelivered', async () => {
    const world = createFakeWorld({
      replies: [asks([toolCall('c1'), toolCall('c2')])],
      tools: [toolSpec('echo')],
      closes: true,
      shouldStopAfterTurn: () => ({ kind: 'answer', stop: true }),
      at: { 'callTool c1': ({ followUp }) => followUp('never', 'f-1') },
    });
    await world.run('hello');
    expect(world.transcript().slice(-2)).toEqual(['result c1', 'result c2']);
    expect(world.eventsOf('agent_end')).toMatchObject([
      { undelivered: [{ kind: 'followUp', id: 'f-1', preview: 'never' }] },
    ]);
  });

  test('a session that stays open reports nothing as undelivered', async () => {
    const world = createFakeWorld({
      replies: [says('hi')],
      shouldStopAfterTurn: () => ({ kind: 'answer', stop: true }),
    });
    world.followUp('later');
    await world.run('hello');
    expect(world.eventsOf('agent_end')[0]).not.toHaveProperty('undelivered');
  });
});
