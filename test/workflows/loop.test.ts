import { describe, expect, test } from 'vitest';
import { createFakeWorld } from '../support/fake-effects.js';
import {
  asks,
  assistantMessage,
  deferred,
  failsWith,
  returns,
  says,
  toolCall,
  toolSpec,
  userMessage,
} from '../support/loop-values.js';

const noCalls = (log: readonly string[]) =>
  log.filter((entry) => !/^(done|preparing|running) /.test(entry));

describe('runAgentLoop: flow of a run', () => {
  test('WT-011: a plain answer ends the run, its events in this order', async () => {
    const world = createFakeWorld({ replies: [says('hi')] });
    const outcome = await world.run('hello');
    expect(outcome).toEqual({ kind: 'finished' });
    expect(world.log).toEqual([
      'agent_start',
      'turn_start 1',
      'message_start 0',
      'message_end 0',
      'resolveAgent',
      'takeSteering',
      'completeChat 1',
      'message_start 1',
      'message_end 1',
      'turn_end 1',
      'takeSteering',
      'takeFollowUps',
      'agent_end',
    ]);
    expect(world.eventsOf('agent_end')).toMatchObject([
      { messages: { from: 0, to: 2 }, stopReason: 'stop' },
    ]);
    expect(world.eventsOf('turn_end')).toMatchObject([{ message: 1, toolResults: [] }]);
  });

  test('each prompt message enters the transcript once and gets its own start and end', async () => {
    const world = createFakeWorld({ replies: [says('hi')] });
    await world.run({ kind: 'prompt', messages: [userMessage('one'), userMessage('two')] });
    expect(world.transcript()).toEqual(['user one', 'user two', 'assistant stop']);
    expect(world.eventsOf('message_end').map(({ message }) => message)).toEqual([0, 1, 2]);
  });

  test('L32: a run is under way, its prompt in the transcript, before anything is awaited', async () => {
    const resolved = deferred<{ kind: 'failed'; errorMessage: string }>();
    const world = createFakeWorld({ replies: [], resolve: () => resolved.promise });
    const run = world.run('hello');
    expect(world.transcript()).toEqual(['user hello']);
    expect(world.eventsOf('agent_start')).toHaveLength(1);
    resolved.resolve({ kind: 'failed', errorMessage: 'over' });
    await run;
  });

  test('a turn is one model call and its tools; the next turn sees the results', async () => {
    const world = createFakeWorld({ replies: [asks([toolCall('c1')]), says('done')] });
    await world.run('hello');
    expect(world.transcript()).toEqual([
      'user hello',
      'assistant toolUse',
      'result c1',
      'assistant stop',
    ]);
    expect(noCalls(world.log)).toEqual([
      'agent_start',
      'turn_start 1',
      'message_start 0',
      'message_end 0',
      'resolveAgent',
      'takeSteering',
      'completeChat 1',
      'message_start 1',
      'message_end 1',
      'tool_execution_start c1',
      'callTool c1',
      'tool_execution_end c1',
      'message_start 2',
      'message_end 2',
      'turn_end 1',
      'takeSteering',
      'turn_start 2',
      'completeChat 2',
      'message_start 3',
      'message_end 3',
      'turn_end 2',
      'takeSteering',
      'takeFollowUps',
      'agent_end',
    ]);
    expect(world.eventsOf('turn_end')).toMatchObject([
      { turn: 1, message: 1, toolResults: [2] },
      { turn: 2, message: 3, toolResults: [] },
    ]);
  });

  test('L31: the assistant message is in the transcript before any of its tools starts', async () => {
    const seen: (readonly string[])[] = [];
    const world = createFakeWorld({
      replies: [asks([toolCall('c1'), toolCall('c2')]), says('done')],
      execute: (_call, { transcript }) => {
        seen.push(transcript());
        return returns('ok');
      },
    });
    await world.run('hello');
    expect(seen).toEqual([
      ['user hello', 'assistant toolUse'],
      ['user hello', 'assistant toolUse'],
    ]);
  });

  test.each(['stop', 'toolUse'] as const)(
    'tool calls are taken from the content: finish reason %s with a call executes it',
    async (stopReason) => {
      const world = createFakeWorld({
        replies: [asks([toolCall('c1')], { stopReason }), says('done')],
      });
      await world.run();
      expect(world.executed.map(({ call }) => call.id)).toEqual(['c1']);
    },
  );

  test('tool calls are taken from the content: finish reason toolUse without a call ends the run', async () => {
    const world = createFakeWorld({ replies: [asks([])] });
    expect(await world.run()).toEqual({ kind: 'finished' });
    expect(world.eventsOf('agent_end')).toMatchObject([{ stopReason: 'toolUse' }]);
  });

  test('WT-012: thinking and several calls in one message: the message stays as it came, each call has its result', async () => {
    const thinking = {
      type: 'thinking' as const,
      thinking: 'two reads',
      field: 'reasoning_content',
    };
    const message = assistantMessage([thinking, toolCall('c1'), toolCall('c2')], 'toolUse');
    const ready = { kind: 'ready' as const };
    const world = createFakeWorld({
      replies: [{ kind: 'message', message, prepared: [ready, ready] }, says('done')],
    });
    await world.run('hello');
    expect(world.messages[1]).toEqual({ ...message, timestamp: 1 });
    expect(world.transcript().slice(2)).toEqual(['result c1', 'result c2', 'assistant stop']);
  });

  test('agent_end lists exactly the messages this run added', async () => {
    const world = createFakeWorld({
      transcript: [userMessage('before'), assistantMessage([{ type: 'text', text: 'earlier' }])],
      replies: [asks([toolCall('c1')]), says('done')],
    });
    await world.run('hello');
    expect(world.eventsOf('agent_end')).toMatchObject([{ messages: { from: 2, to: 6 } }]);
  });

  test('L17: the run settles only when every tool has ended', async () => {
    const tool = deferred<ReturnType<typeof returns>>();
    const world = createFakeWorld({
      replies: [asks([toolCall('c1')]), says('done')],
      execute: () => tool.promise,
    });
    let settled = false;
    const run = world.run().finally(() => (settled = true));
    await new Promise(setImmediate);
    expect(world.log.at(-1)).toBe('callTool c1');
    expect(settled).toBe(false);
    tool.resolve(returns('late'));
    await run;
    expect(world.transcript()).toContain('result c1');
  });
});

describe('runAgentLoop: runs that fail', () => {
  test('an agent that cannot be resolved: turn_end without a message, agent_end with the reason', async () => {
    const world = createFakeWorld({
      replies: [],
      resolve: () => ({ kind: 'failed', errorMessage: 'no such model' }),
    });
    expect(await world.run('hello')).toEqual({
      kind: 'failed',
      cause: 'input',
      errorMessage: 'no such model',
    });
    expect(world.log.slice(-3)).toEqual(['resolveAgent', 'turn_end 1', 'agent_end']);
    expect(world.eventsOf('turn_end')[0]).not.toHaveProperty('message');
    expect(world.eventsOf('agent_end')).toMatchObject([
      { stopReason: 'error', errorMessage: 'no such model', messages: { from: 0, to: 1 } },
    ]);
  });

  test('an errored message ends the run: no tool, no result, no hook, no poll', async () => {
    const message = assistantMessage([toolCall('c1')], 'error', { errorMessage: 'HTTP 500' });
    const world = createFakeWorld({
      replies: [{ kind: 'failed', message }],
      prepareNextTurn: () => ({ kind: 'view', view: {} }),
      shouldStopAfterTurn: () => ({ kind: 'answer', stop: false }),
      at: { 'completeChat 1': ({ steer, followUp }) => (steer('s'), followUp('f')) },
    });
    expect(await world.run('hello')).toEqual({
      kind: 'failed',
      cause: 'model',
      errorMessage: 'HTTP 500',
    });
    expect(world.log.slice(-4)).toEqual([
      'message_start 1',
      'message_end 1',
      'turn_end 1',
      'agent_end',
    ]);
    expect(world.transcript()).toEqual(['user hello', 'assistant error']);
    expect(world.eventsOf('turn_end')).toMatchObject([{ message: 1, toolResults: [] }]);
    expect(world.eventsOf('agent_end')).toMatchObject([
      { stopReason: 'error', errorMessage: 'HTTP 500', messages: { from: 0, to: 2 } },
    ]);
    expect(world.waiting()).toEqual(['s', 'f']);
  });

  test('a message with stopReason error ends the run however it arrives', async () => {
    const message = assistantMessage([toolCall('c1')], 'error', { errorMessage: 'cut' });
    const world = createFakeWorld({ replies: [{ kind: 'message', message, prepared: [] }] });
    expect(await world.run()).toMatchObject({
      kind: 'failed',
      cause: 'model',
      errorMessage: 'cut',
    });
    expect(world.executed).toEqual([]);
  });

  test('a run that fails late: agent_end still lists everything it added', async () => {
    const world = createFakeWorld({ replies: [asks([toolCall('c1')]), failsWith('gone')] });
    await world.run('hello');
    expect(world.eventsOf('agent_end')).toMatchObject([{ messages: { from: 0, to: 4 } }]);
  });
});

describe('runAgentLoop: hooks after a turn', () => {
  test('prepareNextTurn comes after turn_end, shouldStopAfterTurn after it, then the queues', async () => {
    const world = createFakeWorld({
      replies: [asks([toolCall('c1')]), says('done')],
      prepareNextTurn: () => ({ kind: 'view', view: { systemPrompt: 'new' } }),
      shouldStopAfterTurn: () => ({ kind: 'answer', stop: false }),
    });
    await world.run();
    const afterTurn = ['turn_end 1', 'prepareNextTurn 1', 'shouldStopAfterTurn 1', 'takeSteering'];
    const from = world.log.indexOf('turn_end 1');
    expect(world.log.slice(from, from + 4)).toEqual(afterTurn);
    expect(world.log.filter((entry) => entry.startsWith('shouldStop'))).toHaveLength(2);
  });

  test('shouldStopAfterTurn true: agent_end with the last stop reason, and no queue is polled', async () => {
    const world = createFakeWorld({
      replies: [asks([toolCall('c1')])],
      shouldStopAfterTurn: (_turn, { steer, followUp }) => {
        steer('s');
        followUp('f');
        return { kind: 'answer', stop: true };
      },
    });
    expect(await world.run()).toEqual({ kind: 'finished' });
    expect(world.log.slice(-2)).toEqual(['shouldStopAfterTurn 1', 'agent_end']);
    expect(world.eventsOf('agent_end')).toMatchObject([{ stopReason: 'toolUse' }]);
    expect(world.waiting()).toEqual(['s', 'f']);
  });

  test.each(['prepareNextTurn', 'shouldStopAfterTurn'] as const)(
    'a throw of %s ends the run with its message',
    async (hook) => {
      const world = createFakeWorld({
        replies: [asks([toolCall('c1')])],
        [hook]: () => ({ kind: 'threw', errorMessage: 'broken' }),
      });
      expect(await world.run()).toEqual({
        kind: 'failed',
        cause: 'hook',
        errorMessage: `${hook}: broken`,
      });
      expect(world.log.slice(-3)).toEqual(['turn_end 1', `${hook} 1`, 'agent_end']);
      expect(world.eventsOf('agent_end')).toMatchObject([
        { stopReason: 'error', errorMessage: `${hook}: broken`, messages: { from: 0, to: 3 } },
      ]);
    },
  );

  test('hooks that the agent does not define are not asked', async () => {
    const world = createFakeWorld({ replies: [asks([toolCall('c1')]), says('done')] });
    await world.run();
    expect(world.log.filter((entry) => /prepareNext|shouldStop|ToolCall/.test(entry))).toEqual([]);
  });
});

describe('runAgentLoop: terminate', () => {
  const both = asks([toolCall('c1'), toolCall('c2')]);

  test('every result of the batch says terminate: the next model call is skipped', async () => {
    const world = createFakeWorld({
      replies: [both],
      execute: () => returns('final', { terminate: true }),
    });
    expect(await world.run()).toEqual({ kind: 'finished' });
    expect(world.transcript()).toEqual([
      'user hello',
      'assistant toolUse',
      'result c1',
      'result c2',
    ]);
    expect(world.messages[2]).not.toHaveProperty('terminate');
  });

  test('one result of the batch does not say terminate: the model is called', async () => {
    const world = createFakeWorld({
      replies: [both, says('done')],
      execute: ({ call }) => returns('final', { terminate: call.id === 'c1' }),
    });
    await world.run();
    expect(world.transcript().at(-1)).toBe('assistant stop');
  });

  test.each(['steer', 'followUp'] as const)(
    'a message queued by %s still causes a turn after a terminated batch',
    async (kind) => {
      const world = createFakeWorld({
        replies: [both, says('done')],
        execute: (_call, { waiting, ...world }) => {
          if (waiting().length === 0) world[kind]('more');
          return returns('final', { terminate: true });
        },
      });
      await world.run();
      expect(world.transcript().slice(-2)).toEqual(['user more', 'assistant stop']);
    },
  );

  test('a settled call in the batch keeps it from terminating', async () => {
    const world = createFakeWorld({
      replies: [
        asks([toolCall('c1'), toolCall('c2')], {
          prepared: [{ kind: 'ready' }, { kind: 'settled', text: 'invalid' }],
        }),
        says('done'),
      ],
      tools: [toolSpec('echo')],
      execute: () => returns('final', { terminate: true }),
    });
    await world.run();
    expect(world.transcript().at(-1)).toBe('assistant stop');
  });
});
