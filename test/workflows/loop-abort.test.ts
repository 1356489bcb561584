import { describe, expect, test } from 'vitest';
import { textOf } from '../../src/protocol/messages.js';
import { createFakeWorld } from '../support/fake-effects.js';
import type { FakeWorld, FakeWorldOptions } from '../support/fake-effects.js';
import {
  asks,
  assistantMessage,
  deferred,
  failsWith,
  partialAnswer,
  returns,
  says,
  toolCall,
  toolSpec,
} from '../support/loop-values.js';

const three = [toolCall('c1'), toolCall('c2'), toolCall('c3')];
const everyHook: Partial<FakeWorldOptions> = {
  beforeToolCall: () => ({ kind: 'proceed' }),
  afterToolCall: () => ({ kind: 'replaced', fields: {} }),
  prepareNextTurn: () => ({ kind: 'view', view: {} }),
  shouldStopAfterTurn: () => ({ kind: 'answer', stop: false }),
};

/** A world that is aborted as the effect with this label begins. */
function abortedAt(label: string, options: Partial<FakeWorldOptions> = {}): FakeWorld {
  return createFakeWorld({
    replies: [asks(three), says('never')],
    ...options,
    at: { [label]: ({ abort }) => abort() },
  });
}

function resultTexts({ messages }: FakeWorld): readonly string[] {
  return messages.flatMap((message) =>
    message.role === 'toolResult' ? [textOf(message.content)] : [],
  );
}

const effectsOf = ({ log }: FakeWorld) =>
  log.filter((entry) =>
    /^(completeChat|callTool|(before|after)ToolCall|awaitApp|prepareN|should)/.test(entry),
  );

describe('runAgentLoop: abort between and in model calls', () => {
  test('before the run began: the prompt is kept, nothing starts', async () => {
    const world = createFakeWorld({ replies: [] });
    world.abort();
    expect(await world.run('hello')).toEqual({ kind: 'aborted' });
    expect(world.log).toEqual([
      'agent_start',
      'turn_start 1',
      'message_start 0',
      'message_end 0',
      'turn_end 1',
      'agent_end',
    ]);
    expect(world.eventsOf('agent_end')).toMatchObject([{ stopReason: 'aborted' }]);
  });

  test('while the agent is resolved: no model call, no invented message', async () => {
    const world = abortedAt('resolveAgent');
    world.steer('kept');
    expect(await world.run('hello')).toEqual({ kind: 'aborted' });
    expect(world.transcript()).toEqual(['user hello']);
    expect(world.waiting()).toEqual(['kept']);
  });

  test.each([
    ['fails', { kind: 'failed' as const, errorMessage: 'no such model' }],
    ['resolves', undefined],
  ])(
    'L36: an agent that %s just when the run is aborted: aborted, no model call',
    async (_how, failure) => {
      const world = createFakeWorld({
        replies: [],
        resolve: ({ abort }, agent) => {
          abort();
          return failure ?? { kind: 'resolved', agent };
        },
      });
      world.steer('kept');
      expect(await world.run('hello')).toEqual({ kind: 'aborted' });
      expect(world.transcript()).toEqual(['user hello']);
      expect(world.waiting()).toEqual(['kept']);
      expect(world.eventsOf('agent_end')).toMatchObject([{ stopReason: 'aborted' }]);
    },
  );

  test('a model call in flight: what had arrived is kept as an aborted message, its calls are not executed', async () => {
    const partial = assistantMessage([toolCall('c1')], 'aborted');
    const world = abortedAt('completeChat 1', {
      ...everyHook,
      abortedChat: () => ({ kind: 'message', message: partial, prepared: [] }),
    });
    expect(await world.run('hello')).toEqual({ kind: 'aborted' });
    expect(world.transcript()).toEqual(['user hello', 'assistant aborted']);
    expect(effectsOf(world)).toEqual(['completeChat 1']);
    expect(world.log.slice(-2)).toEqual(['turn_end 1', 'agent_end']);
    expect(world.eventsOf('turn_end')).toMatchObject([{ message: 1, toolResults: [] }]);
    expect(world.eventsOf('agent_end')).toMatchObject([
      { stopReason: 'aborted', messages: { from: 0, to: 2 } },
    ]);
  });

  test('a model call that had not begun: no message is invented', async () => {
    const world = abortedAt('completeChat 1', { abortedChat: () => ({ kind: 'aborted' }) });
    expect(await world.run('hello')).toEqual({ kind: 'aborted' });
    expect(world.transcript()).toEqual(['user hello']);
    expect(world.eventsOf('turn_end')[0]).not.toHaveProperty('message');
  });

  test('an answer with calls that came in whole just before: every call gets an aborted result, none starts', async () => {
    const world = createFakeWorld({
      ...everyHook,
      replies: [
        ({ abort }) => {
          abort();
          return asks(three);
        },
      ],
    });
    expect(await world.run('hello')).toEqual({ kind: 'aborted' });
    expect(world.transcript().slice(2)).toEqual([
      'result c1 error',
      'result c2 error',
      'result c3 error',
    ]);
    expect(world.eventsOf('tool_execution_start')).toEqual([]);
    expect(world.eventsOf('tool_execution_end')).toEqual([]);
    expect(effectsOf(world)).toEqual(['completeChat 1']);
    for (const text of resultTexts(world)) expect(text).toMatch(/^Aborted.*not executed/);
  });

  test('a cut-off answer just before the abort: its calls have their results, none starts', async () => {
    const world = createFakeWorld({
      replies: [
        ({ abort }) => {
          abort();
          return asks(three, { stopReason: 'length' });
        },
      ],
    });
    expect(await world.run('hello')).toEqual({ kind: 'aborted' });
    expect(world.transcript().slice(2)).toEqual([
      'result c1 error',
      'result c2 error',
      'result c3 error',
    ]);
    expect(world.eventsOf('tool_execution_start')).toEqual([]);
  });

  test.each([
    ['an answer', says('done')],
    ['a failure', failsWith('HTTP 500')],
  ])(
    '%s that came in just before the end: the run is aborted all the same',
    async (_what, reply) => {
      const world = createFakeWorld({
        replies: [
          ({ abort }) => {
            abort();
            return reply;
          },
        ],
      });
      world.followUp('kept');
      expect(await world.run('hello')).toEqual({ kind: 'aborted' });
      expect(world.waiting()).toEqual(['kept']);
      expect(world.eventsOf('agent_end')).toMatchObject([{ stopReason: 'aborted' }]);
    },
  );

  test.each(['prepareNextTurn 1', 'shouldStopAfterTurn 1'])(
    'during %s: nothing further is asked, polled or called',
    async (label) => {
      const world = abortedAt(label, everyHook);
      world.steer('first');
      world.steer('kept');
      expect(await world.run('hello')).toEqual({ kind: 'aborted' });
      expect(world.waiting()).toEqual(['kept']);
      expect(world.log.slice(-2)).toEqual([label, 'agent_end']);
    },
  );

  test.each(['prepareNextTurn', 'shouldStopAfterTurn'] as const)(
    'a %s hook that throws or answers just when the run is aborted: aborted',
    async (hook) => {
      const world = createFakeWorld({
        replies: [says('done')],
        [hook]: (_turn: number, { abort }: FakeWorld) => {
          abort();
          return { kind: 'threw', errorMessage: 'broken' };
        },
      });
      expect(await world.run('hello')).toEqual({ kind: 'aborted' });
    },
  );

  test('queued steering and follow-ups stay queued, or are reported as undelivered when the session closes', async () => {
    const world = abortedAt('callTool c1', { closes: true, steeringMode: 'all' });
    const run = world.run('hello');
    world.steer('s');
    world.followUp('f');
    await run;
    expect(world.transcript()).not.toContain('user f');
    expect(world.eventsOf('agent_end')).toMatchObject([
      { undelivered: [{ kind: 'followUp', preview: 'f' }] },
    ]);
  });
});

describe('runAgentLoop: abort in a tool batch', () => {
  test('L2: three sequential calls, aborted in the first: its real result, aborted results for the others', async () => {
    const world = abortedAt('callTool c1', {
      abortedTool: () => returns('partial output', { isError: true }),
    });
    expect(await world.run('hello', { toolExecution: 'sequential' })).toEqual({ kind: 'aborted' });
    expect(world.executed.map(({ call }) => call.id)).toEqual(['c1']);
    expect(resultTexts(world)[0]).toBe('partial output');
    expect(resultTexts(world)[1]).toMatch(/^Aborted.*not executed/);
    expect(world.transcript().slice(2)).toEqual([
      'result c1 error',
      'result c2 error',
      'result c3 error',
    ]);
    expect(world.eventsOf('tool_execution_start')).toHaveLength(1);
    expect(world.eventsOf('tool_execution_end')).toHaveLength(1);
    expect(world.log.slice(-2)).toEqual(['turn_end 1', 'agent_end']);
    expect(world.eventsOf('turn_end')).toMatchObject([{ message: 1, toolResults: [2, 3, 4] }]);
  });

  test('running tools of a parallel batch: their real results are recorded, in source order', async () => {
    const c3 = deferred<ReturnType<typeof returns>>();
    const world = createFakeWorld({
      replies: [asks(three)],
      execute: ({ call }) =>
        call.id === 'c3' ? c3.promise : new Promise<ReturnType<typeof returns>>(() => {}),
      abortedTool: ({ call }) => returns(`killed ${call.id}`, { isError: true }),
    });
    const run = world.run('hello');
    await new Promise(setImmediate);
    c3.resolve(returns('whole'));
    await new Promise(setImmediate);
    world.abort();
    expect(await run).toEqual({ kind: 'aborted' });
    expect(resultTexts(world)).toEqual(['killed c1', 'killed c2', 'whole']);
    expect(world.transcript().slice(2)).toEqual([
      'result c1 error',
      'result c2 error',
      'result c3',
    ]);
  });

  test('L3: hook 2 of a parallel batch is aborted: the call that was prepared does not start either', async () => {
    const world = abortedAt('beforeToolCall c2', everyHook);
    expect(await world.run('hello')).toEqual({ kind: 'aborted' });
    expect(world.executed).toEqual([]);
    expect(effectsOf(world)).toEqual(['completeChat 1', 'beforeToolCall c1', 'beforeToolCall c2']);
    expect(world.transcript().slice(2)).toEqual([
      'result c1 error',
      'result c2 error',
      'result c3 error',
    ]);
    expect(world.eventsOf('tool_execution_start').map(({ toolCallId }) => toolCallId)).toEqual([
      'c1',
      'c2',
    ]);
    expect(
      world
        .eventsOf('tool_execution_end')
        .map(({ toolCallId }) => toolCallId)
        .toSorted(),
    ).toEqual(['c1', 'c2']);
  });

  test.each(['parallel', 'sequential'] as const)(
    'a hook that lets its call proceed just when the run is aborted: the call is not asked about, not executed (%s)',
    async (toolExecution) => {
      const world = createFakeWorld({
        replies: [asks(three)],
        tools: [toolSpec('echo', { approval: 'ask' })],
        beforeToolCall: (_call, { abort }) => {
          abort();
          return { kind: 'proceed' };
        },
      });
      await world.run('hello', { toolExecution });
      expect(effectsOf(world)).toEqual(['completeChat 1', 'beforeToolCall c1']);
      expect(world.transcript().slice(2)).toEqual([
        'result c1 error',
        'result c2 error',
        'result c3 error',
      ]);
    },
  );

  test('L4: sequential, aborted in one confirmation: the next ones are not asked', async () => {
    const world = abortedAt('awaitApprovals c1', {
      tools: [toolSpec('echo', { approval: 'ask' })],
    });
    expect(await world.run('hello', { toolExecution: 'sequential' })).toEqual({ kind: 'aborted' });
    expect(effectsOf(world)).toEqual(['completeChat 1', 'awaitApprovals c1']);
    expect(world.transcript().slice(2)).toEqual([
      'result c1 error',
      'result c2 error',
      'result c3 error',
    ]);
  });

  test('an approval wait of a parallel batch: no call runs, not even the approved or the ungated', async () => {
    const world = createFakeWorld({
      replies: [asks([toolCall('c1', 'free'), toolCall('c2', 'gated'), toolCall('c3', 'gated')])],
      tools: [toolSpec('free'), toolSpec('gated', { approval: 'ask' })],
      approve: ({ call }, { abort }) => {
        if (call.id === 'c3') abort();
        return { kind: 'approved' };
      },
    });
    expect(await world.run('hello')).toEqual({ kind: 'aborted' });
    expect(world.executed).toEqual([]);
    expect(world.eventsOf('tool_execution_end')).toHaveLength(3);
  });

  test('a call of a large batch that waits for its turn is not started', async () => {
    const calls = Array.from({ length: 103 }, (_, index) => toolCall(`c${index}`));
    const world = createFakeWorld({
      replies: [asks(calls)],
      at: { 'callTool c50': ({ abort }) => abort() },
      execute: () => new Promise(() => {}),
    });
    await world.run('hello');
    expect(world.executed).toHaveLength(100);
    expect(resultTexts(world).slice(100)).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining('not executed')),
    );
  });

  test('where an afterToolCall hook is defined, a result it has not seen is recorded as aborted, not raw', async () => {
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 2 };
    const world = abortedAt('callTool c1', {
      ...everyHook,
      abortedTool: () =>
        returns('secret', { details: 'secret', durationMs: 7, usage, terminate: true }),
    });
    await world.run('hello', { toolExecution: 'sequential' });
    expect(effectsOf(world)).not.toContain('afterToolCall c1');
    expect(JSON.stringify(world.messages)).not.toContain('secret');
    expect(resultTexts(world)[0]).toMatch(/^Aborted\. This call was executed/);
    expect(world.messages[2]).toMatchObject({ isError: true, durationMs: 7, usage });
  });

  test('an afterToolCall hook that was interrupted has not seen the result', async () => {
    const world = abortedAt('afterToolCall c1', { ...everyHook, execute: () => returns('secret') });
    await world.run('hello', { toolExecution: 'sequential' });
    expect(JSON.stringify(world.messages)).not.toContain('secret');
  });

  test('an afterToolCall hook that answered just when the run was aborted has seen it', async () => {
    const world = createFakeWorld({
      replies: [asks([toolCall('c1')])],
      execute: () => returns('secret'),
      afterToolCall: (_call, _result, { abort }) => {
        abort();
        return { kind: 'replaced', fields: returns('redacted') };
      },
    });
    await world.run('hello');
    expect(resultTexts(world)).toEqual(['redacted']);
  });

  test('without such a hook the real result is recorded', async () => {
    const world = createFakeWorld({
      replies: [asks([toolCall('c1')])],
      execute: (_call, { abort }) => {
        abort();
        return returns('real');
      },
    });
    await world.run('hello');
    expect(resultTexts(world)).toEqual(['real']);
    expect(world.transcript()).toContain('result c1');
  });

  test('a batch that terminated just when the run was aborted: aborted, no hook, no poll', async () => {
    const world = createFakeWorld({
      ...everyHook,
      replies: [asks([toolCall('c1')])],
      execute: (_call, { abort }) => {
        abort();
        return returns('real', { terminate: true });
      },
    });
    world.followUp('kept');
    expect(await world.run('hello')).toEqual({ kind: 'aborted' });
    expect(world.log.slice(-2)).toEqual(['turn_end 1', 'agent_end']);
  });

  test('the partial answer of an abort is as it arrived', async () => {
    const world = abortedAt('completeChat 1');
    await world.run('hello');
    expect(world.messages[1]).toMatchObject(partialAnswer);
  });
});
