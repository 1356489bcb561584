import { describe, expect, test } from 'vitest';
import { textOf } from '../../src/protocol/messages.js';
import { createFakeWorld } from '../support/fake-effects.js';
import type { FakeWorld, FakeWorldOptions } from '../support/fake-effects.js';
import { asks, deferred, returns, says, toolCall, toolSpec } from '../support/loop-values.js';

const three = [toolCall('c1'), toolCall('c2'), toolCall('c3')];

/** A world whose model asks for `calls` once and then answers. */
function worldOf(calls: typeof three, options: Partial<FakeWorldOptions> = {}): FakeWorld {
  return createFakeWorld({ replies: [asks(calls), says('done')], ...options });
}

function textOfResult(world: FakeWorld, id: string): string {
  const result = world.messages.find(
    (message) => message.role === 'toolResult' && message.toolCallId === id,
  );
  return result?.role === 'toolResult' ? textOf(result.content) : '';
}

function batchLog({ log }: FakeWorld): readonly string[] {
  const from = log.findIndex((entry) => entry.startsWith('tool_execution_start'));
  return log
    .slice(from, log.indexOf('turn_end 1'))
    .filter((entry) => !/^(preparing|done|running|message_start) /.test(entry));
}

/** Tools that the test ends one by one. */
function gatedTools() {
  const gates = new Map<string, ReturnType<typeof deferred<void>>>();
  const gate = (id: string) => {
    const existing = gates.get(id) ?? deferred<void>();
    gates.set(id, existing);
    return existing;
  };
  return {
    execute: async ({ call }: { call: { id: string } }) => {
      await gate(call.id).promise;
      return returns(`ran ${call.id}`);
    },
    finish: async (id: string) => {
      gate(id).resolve();
      await new Promise(setImmediate);
    },
  };
}

describe('runToolBatch: parallel', () => {
  test('starts in order while preparing, ends in completion order, results in source order when all are in', async () => {
    const tools = gatedTools();
    const world = worldOf(three, { execute: tools.execute });
    const run = world.run();
    await new Promise(setImmediate);
    await tools.finish('c3');
    await tools.finish('c1');
    expect(world.transcript()).toEqual(['user hello', 'assistant toolUse']);
    await tools.finish('c2');
    await run;
    expect(batchLog(world)).toEqual([
      'tool_execution_start c1',
      'tool_execution_start c2',
      'tool_execution_start c3',
      'callTool c1',
      'callTool c2',
      'callTool c3',
      'tool_execution_end c3',
      'tool_execution_end c1',
      'tool_execution_end c2',
      'message_end 2',
      'message_end 3',
      'message_end 4',
    ]);
    expect(world.transcript().slice(2, 5)).toEqual(['result c1', 'result c2', 'result c3']);
    expect(world.mostToolsAtOnce()).toBe(3);
  });

  test('no tool starts before every call is prepared and answered; hooks go one after another, then all approvals at once', async () => {
    let hooks = 0;
    let mostHooks = 0;
    const world = worldOf(three, {
      tools: [toolSpec('echo', { approval: 'ask' })],
      beforeToolCall: async () => {
        hooks += 1;
        mostHooks = Math.max(mostHooks, hooks);
        await new Promise(setImmediate);
        hooks -= 1;
        return { kind: 'proceed' };
      },
    });
    await world.run();
    expect(mostHooks).toBe(1);
    expect(batchLog(world).slice(0, 10)).toEqual([
      'tool_execution_start c1',
      'beforeToolCall c1',
      'tool_execution_start c2',
      'beforeToolCall c2',
      'tool_execution_start c3',
      'beforeToolCall c3',
      'awaitApprovals c1,c2,c3',
      'callTool c1',
      'callTool c2',
      'callTool c3',
    ]);
  });

  test('only calls whose policy is ask wait for approval', async () => {
    const world = worldOf([toolCall('c1', 'free'), toolCall('c2', 'gated')], {
      tools: [toolSpec('free'), toolSpec('gated', { approval: 'ask' })],
    });
    await world.run();
    expect(world.log).toContain('awaitApprovals c2');
    expect(world.log.indexOf('callTool c1')).toBeGreaterThan(
      world.log.indexOf('awaitApprovals c2'),
    );
  });

  test('a call settled in preparation ends right away and skips afterToolCall', async () => {
    const world = createFakeWorld({
      replies: [
        asks(three, {
          prepared: [
            { kind: 'ready' },
            { kind: 'settled', text: 'There is no tool named echo.' },
            { kind: 'ready' },
          ],
        }),
        says('done'),
      ],
      afterToolCall: () => ({ kind: 'replaced', fields: {} }),
    });
    await world.run();
    expect(batchLog(world).slice(0, 4)).toEqual([
      'tool_execution_start c1',
      'tool_execution_start c2',
      'tool_execution_end c2',
      'tool_execution_start c3',
    ]);
    expect(world.log).not.toContain('afterToolCall c2');
    expect(world.log).not.toContain('callTool c2');
    expect(textOfResult(world, 'c2')).toBe('There is no tool named echo.');
    expect(world.transcript().slice(2, 5)).toEqual(['result c1', 'result c2 error', 'result c3']);
  });

  test('at most a hundred calls run at once, and all of a larger batch run', async () => {
    const calls = Array.from({ length: 230 }, (_, index) => toolCall(`c${index}`));
    const world = worldOf(calls, {
      execute: async () => {
        await new Promise(setImmediate);
        return returns('ok');
      },
    });
    await world.run();
    expect(world.mostToolsAtOnce()).toBe(100);
    expect(world.executed.map(({ call }) => call.id)).toEqual(calls.map(({ id }) => id));
    expect(world.transcript().slice(2, -1)).toEqual(calls.map(({ id }) => `result ${id}`));
  });

  test('a repeated id has one result, its first call is the one executed', async () => {
    const again = toolCall('c1', 'echo', { second: true });
    const world = worldOf([toolCall('c1'), again, toolCall('c2')]);
    await world.run();
    expect(world.executed.map(({ call, args }) => [call.id, args])).toEqual([
      ['c1', {}],
      ['c2', {}],
    ]);
    expect(world.transcript().slice(2, 4)).toEqual(['result c1', 'result c2']);
  });

  test('a repeated id does not shift the preparation of later calls', async () => {
    const world = createFakeWorld({
      replies: [
        asks([toolCall('c1'), toolCall('c1'), toolCall('c2')], {
          prepared: [
            { kind: 'ready' },
            { kind: 'settled', text: 'wrong' },
            { kind: 'ready', arguments: { mended: true } },
          ],
        }),
        says('done'),
      ],
    });
    await world.run();
    expect(world.executed.map(({ args }) => args)).toEqual([{}, { mended: true }]);
  });

  test('a call that came without a preparation is answered, not executed', async () => {
    const world = createFakeWorld({ replies: [asks(three, { prepared: [] }), says('done')] });
    await world.run();
    expect(world.executed).toEqual([]);
    expect(textOfResult(world, 'c1')).toContain('not executed');
  });

  test('a ready call of a tool the agent does not have is answered with the names it has', async () => {
    const world = worldOf([toolCall('c1', 'ghost')]);
    await world.run();
    expect(textOfResult(world, 'c1')).toMatch(/no tool named ghost.*echo/);
  });
});

describe('runToolBatch: sequential', () => {
  const whole = three.flatMap(({ id }, index) => [
    `tool_execution_start ${id}`,
    `beforeToolCall ${id}`,
    `awaitApprovals ${id}`,
    `callTool ${id}`,
    `afterToolCall ${id}`,
    `tool_execution_end ${id}`,
    `message_end ${index + 2}`,
  ]);
  const hooks: Partial<FakeWorldOptions> = {
    beforeToolCall: () => ({ kind: 'proceed' }),
    afterToolCall: () => ({ kind: 'replaced', fields: {} }),
  };

  test('start, prepare, execute, finalize, end, result message, then the next call', async () => {
    const world = worldOf(three, { tools: [toolSpec('echo', { approval: 'ask' })], ...hooks });
    await world.run('hello', { toolExecution: 'sequential' });
    expect(batchLog(world)).toEqual(whole);
    expect(world.mostToolsAtOnce()).toBe(1);
  });

  test('L28: one called tool that is sequential makes the whole batch sequential', async () => {
    const world = worldOf(
      [toolCall('c1', 'read'), toolCall('c2', 'edit'), toolCall('c3', 'edit')],
      {
        tools: [toolSpec('read'), toolSpec('edit', { executionMode: 'sequential' })],
        execute: async () => {
          await new Promise(setImmediate);
          return returns('ok');
        },
      },
    );
    await world.run();
    expect(world.mostToolsAtOnce()).toBe(1);
    expect(world.executed.map(({ call }) => call.id)).toEqual(['c1', 'c2', 'c3']);
  });

  test('a sequential tool that is not called leaves the batch parallel', async () => {
    const world = worldOf(three, {
      tools: [toolSpec('echo'), toolSpec('edit', { executionMode: 'sequential' })],
      execute: async () => {
        await new Promise(setImmediate);
        return returns('ok');
      },
    });
    await world.run();
    expect(world.mostToolsAtOnce()).toBe(3);
  });

  test('a settled call is answered in its place', async () => {
    const world = worldOf(three, {
      beforeToolCall: ({ call }) =>
        call.id === 'c1' ? { kind: 'blocked', reason: 'no' } : { kind: 'proceed' },
    });
    await world.run('hello', { toolExecution: 'sequential' });
    expect(world.transcript().slice(2, 5)).toEqual(['result c1 error', 'result c2', 'result c3']);
    expect(batchLog(world).slice(0, 4)).toEqual([
      'tool_execution_start c1',
      'beforeToolCall c1',
      'tool_execution_end c1',
      'message_end 2',
    ]);
  });
});

describe.each(['parallel', 'sequential'] as const)('runToolBatch: hooks and policy, %s', (mode) => {
  const settings = { toolExecution: mode };

  test('WT-032: a blocked call has an error result with the reason, is not executed, and the loop goes on', async () => {
    const world = worldOf(three, {
      beforeToolCall: ({ call }) =>
        call.id === 'c2' ? { kind: 'blocked', reason: 'Not on Fridays.' } : { kind: 'proceed' },
      afterToolCall: () => ({ kind: 'replaced', fields: {} }),
    });
    expect(await world.run('hello', settings)).toEqual({ kind: 'finished' });
    expect(world.executed.map(({ call }) => call.id)).toEqual(['c1', 'c3']);
    expect(textOfResult(world, 'c2')).toBe('Not on Fridays.');
    expect(world.log).not.toContain('afterToolCall c2');
    expect(world.transcript().slice(2)).toEqual([
      'result c1',
      'result c2 error',
      'result c3',
      'assistant stop',
    ]);
  });

  test('a call blocked without a reason says that it was not executed', async () => {
    const world = worldOf([toolCall('c1')], { beforeToolCall: () => ({ kind: 'blocked' }) });
    await world.run('hello', settings);
    expect(textOfResult(world, 'c1')).toContain('not executed');
  });

  test('a throw of beforeToolCall is an error result for this call only', async () => {
    const world = worldOf(three, {
      beforeToolCall: ({ call }) =>
        call.id === 'c1' ? { kind: 'threw', errorMessage: 'hook broke' } : { kind: 'proceed' },
    });
    await world.run('hello', settings);
    expect(textOfResult(world, 'c1')).toContain('hook broke');
    expect(world.executed.map(({ call }) => call.id)).toEqual(['c2', 'c3']);
  });

  test('arguments: a hook replaces what preparation mended, the transcript keeps the model\u2019s own', async () => {
    const call = (id: string) => toolCall(id, 'echo', { from: 'model' });
    const world = createFakeWorld({
      replies: [
        asks([call('c1'), call('c2'), call('c3')], {
          prepared: [
            { kind: 'ready', arguments: { from: 'preparation' } },
            { kind: 'ready', arguments: { from: 'preparation' } },
            { kind: 'ready' },
          ],
        }),
        says('done'),
      ],
      beforeToolCall: ({ call: { id } }) =>
        id === 'c1' ? { kind: 'proceed', arguments: { from: 'hook' } } : { kind: 'proceed' },
    });
    await world.run('hello', settings);
    expect(world.executed.map(({ args }) => args['from'])).toEqual([
      'hook',
      'preparation',
      'model',
    ]);
    expect(world.messages[1]).toMatchObject({
      content: [
        { arguments: { from: 'model' } },
        { arguments: { from: 'model' } },
        { arguments: { from: 'model' } },
      ],
    });
  });

  test('the approver is asked about the arguments that will be executed', async () => {
    const asked: unknown[] = [];
    const world = worldOf([toolCall('c1')], {
      tools: [toolSpec('echo', { approval: 'ask' })],
      beforeToolCall: () => ({ kind: 'proceed', arguments: { from: 'hook' } }),
      approve: ({ args }) => {
        asked.push(args);
        return { kind: 'approved' };
      },
    });
    await world.run('hello', settings);
    expect(asked).toEqual([{ from: 'hook' }]);
  });

  test('a denied call is answered with the reason and not executed, the approved one is', async () => {
    const world = worldOf(three, {
      tools: [toolSpec('echo', { approval: 'ask' })],
      approve: ({ call }) =>
        call.id === 'c2' ? { kind: 'denied', reason: 'too risky' } : { kind: 'approved' },
      afterToolCall: () => ({ kind: 'replaced', fields: {} }),
    });
    await world.run('hello', settings);
    expect(world.executed.map(({ call }) => call.id)).toEqual(['c1', 'c3']);
    expect(textOfResult(world, 'c2')).toContain('too risky');
    expect(world.log).not.toContain('afterToolCall c2');
    expect(world.transcript().slice(2, 5)).toEqual(['result c1', 'result c2 error', 'result c3']);
  });

  test('a call whose approval came to nothing is not executed', async () => {
    const world = worldOf([toolCall('c1')], {
      tools: [toolSpec('echo', { approval: 'ask' })],
      approve: () => ({ kind: 'aborted' }),
    });
    await world.run('hello', settings);
    expect(world.executed).toEqual([]);
    expect(textOfResult(world, 'c1')).toContain('not executed');
  });

  test('policy deny answers the call without asking anybody', async () => {
    const world = worldOf([toolCall('c1', 'danger')], {
      tools: [toolSpec('danger', { approval: 'deny' })],
    });
    await world.run('hello', settings);
    expect(world.executed).toEqual([]);
    expect(world.log.filter((entry) => entry.startsWith('awaitApprovals'))).toEqual([]);
    expect(textOfResult(world, 'c1')).toMatch(/denies the tool danger.*not executed/);
  });

  test('WT-031: a tool that throws gives an error result with its message, and the loop goes on', async () => {
    const world = worldOf(three, {
      execute: ({ call }) =>
        call.id === 'c2' ? returns('ENOENT: no such file', { isError: true }) : returns('ok'),
    });
    expect(await world.run('hello', settings)).toEqual({ kind: 'finished' });
    expect(world.transcript().slice(2)).toEqual([
      'result c1',
      'result c2 error',
      'result c3',
      'assistant stop',
    ]);
    expect(textOfResult(world, 'c2')).toBe('ENOENT: no such file');
    expect(
      world.eventsOf('tool_execution_end').find(({ toolCallId }) => toolCallId === 'c2'),
    ).toMatchObject({ isError: true });
  });

  test('afterToolCall is also asked about a tool that threw', async () => {
    const world = worldOf([toolCall('c1')], {
      execute: () => returns('failed', { isError: true }),
      afterToolCall: () => ({ kind: 'replaced', fields: { isError: false } }),
    });
    await world.run('hello', settings);
    expect(world.transcript()).toContain('result c1');
  });

  test.each(['5', '[]', '{"content":"text"}', '{"content":[{"type":"text"}]}', '{"content":[7]}'])(
    'a result of %s, which nobody can read, is an error result',
    async (json) => {
      const world = worldOf([toolCall('c1')], {
        execute: () => JSON.parse(json) as ReturnType<typeof returns>,
      });
      await world.run('hello', settings);
      expect(world.messages[2]).toMatchObject({
        role: 'toolResult',
        content: [{ type: 'text', text: expect.stringContaining('cannot be read') as string }],
        isError: true,
      });
    },
  );

  test('missing content is an empty list', async () => {
    const world = worldOf([toolCall('c1')], {
      execute: () => JSON.parse('{"isError":false}') as ReturnType<typeof returns>,
    });
    await world.run('hello', settings);
    expect(world.messages[2]).toMatchObject({ role: 'toolResult', content: [], isError: false });
  });

  test('a result message carries what the tool gave for people and for accounts', async () => {
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 2 };
    const world = worldOf([toolCall('c1')], {
      execute: () => returns('ok', { details: { lines: 3 }, durationMs: 12, usage }),
    });
    await world.run('hello', settings);
    expect(world.messages[2]).toEqual({
      role: 'toolResult',
      toolCallId: 'c1',
      toolName: 'echo',
      content: [{ type: 'text', text: 'ok' }],
      details: { lines: 3 },
      isError: false,
      durationMs: 12,
      usage,
      timestamp: 2,
    });
  });

  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 2 };
  test.each([
    ['content', { content: [{ type: 'text' as const, text: 'new' }] }],
    ['details', { details: 'new' }],
    ['isError', { isError: true }],
    ['usage', { usage }],
  ])('afterToolCall replaces %s and leaves the other fields', async (_field, fields) => {
    const original = {
      ...returns('old', { details: 'old', durationMs: 5 }),
      usage: { ...usage, total: 9 },
    };
    const world = worldOf([toolCall('c1')], {
      execute: () => original,
      afterToolCall: () => ({ kind: 'replaced', fields }),
    });
    await world.run('hello', settings);
    expect(world.messages[2]).toMatchObject({ ...original, ...fields });
  });

  test('afterToolCall may make a result terminate, and a terminating one go on', async () => {
    const ends = createFakeWorld({
      replies: [asks([toolCall('c1')])],
      afterToolCall: () => ({ kind: 'replaced', fields: { terminate: true } }),
    });
    await ends.run('hello', settings);
    expect(ends.transcript().at(-1)).toBe('result c1');
    const goesOn = worldOf([toolCall('c1')], {
      execute: () => returns('ok', { terminate: true }),
      afterToolCall: () => ({ kind: 'replaced', fields: { terminate: false } }),
    });
    await goesOn.run('hello', settings);
    expect(goesOn.transcript().at(-1)).toBe('assistant stop');
  });

  test('L29: a throw of afterToolCall becomes an error result for that call, the batch lives', async () => {
    const world = worldOf(three, {
      execute: ({ call }) => returns(`secret of ${call.id}`, { terminate: true }),
      afterToolCall: ({ call }) =>
        call.id === 'c2'
          ? { kind: 'threw', errorMessage: 'cannot redact' }
          : { kind: 'replaced', fields: {} },
    });
    expect(await world.run('hello', settings)).toEqual({ kind: 'finished' });
    expect(world.transcript().slice(2, 5)).toEqual(['result c1', 'result c2 error', 'result c3']);
    expect(textOfResult(world, 'c2')).toContain('cannot redact');
    expect(textOfResult(world, 'c2')).not.toContain('secret');
  });

  test('a call moves from preparing over running to done as `state` shows it', async () => {
    const world = worldOf([toolCall('c1')]);
    await world.run('hello', settings);
    const moves = world.log.filter((entry) => entry.endsWith(' c1') && !entry.includes('_'));
    expect(moves).toEqual(['preparing c1', 'running c1', 'callTool c1', 'done c1']);
  });

  test('tool_execution_end comes with the result as the model will see it', async () => {
    const world = worldOf([toolCall('c1')], {
      afterToolCall: () => ({ kind: 'replaced', fields: returns('redacted') }),
    });
    await world.run('hello', settings);
    expect(world.results.get('c1')).toMatchObject(returns('redacted'));
  });
});
