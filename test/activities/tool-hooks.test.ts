import { describe, expect, test, vi } from 'vitest';
import type { AgentHooks } from '../../src/activities/definitions.js';
import { createHooks } from '../../src/activities/tool-hooks.js';
import type {
  AfterToolCallInput,
  AfterToolCallResult,
  BeforeToolCallResult,
  PrepareNextTurnResult,
  ConversationReference,
  ToolHookInput,
  TurnHookInput,
} from '../../src/protocol/activities.js';
import type { JsonValue } from '../../src/protocol/json.js';
import { payloadLimits } from '../../src/protocol/limits.js';
import { zeroUsage } from '../../src/protocol/messages.js';
import type { Message } from '../../src/protocol/messages.js';
import { createActivityWorld } from './tools/activity-world.js';

const conversation: ConversationReference = {
  transcript: { length: 2, digest: 'd', base: 'b', added: [] },
  tools: 't',
};
const call = {
  type: 'toolCall',
  id: 'call-1',
  name: 'bash',
  arguments: { command: 'raw' },
} as const;
const transcript: readonly Message[] = [
  { role: 'user', content: 'Go.', timestamp: 1 },
  {
    role: 'assistant',
    content: [call],
    provider: 'p',
    model: 'm',
    usage: zeroUsage,
    stopReason: 'toolUse',
    timestamp: 2,
  },
];
const callInput: ToolHookInput = {
  agent: 'default',
  workspace: 'default',
  turn: 3,
  toolCallId: 'call-1',
  toolName: 'bash',
  arguments: { value: { command: 'ls' } },
  conversation,
};
const afterInput: AfterToolCallInput = { ...callInput, result: 'result' };
const turnInput: TurnHookInput = {
  agent: 'default',
  workspace: 'default',
  turn: 3,
  model: 'small',
  conversation,
};
const result = { content: [{ type: 'text', text: 'raw result' }], isError: false, durationMs: 5 };

/** A hook as a user's JavaScript may write it. */
type AnyHook = (context: never) => unknown;

async function createHookWorld(hooks: { readonly [Name in keyof AgentHooks]?: AnyHook }) {
  const values: { readonly [digest: string]: JsonValue } = { result, args: { command: 'long' } };
  const agentHooks = hooks as unknown as AgentHooks;
  const world = await createActivityWorld({ agent: { hooks: agentHooks }, transcript, values });
  const activities = createHooks(world.dependencies);
  const { activity } = world;
  return {
    ...world,
    before: (input = callInput): Promise<BeforeToolCallResult> =>
      activity.run(activities.beforeToolCall, input),
    after: (input = afterInput): Promise<AfterToolCallResult> =>
      activity.run(activities.afterToolCall, input),
    prepare: (input = turnInput): Promise<PrepareNextTurnResult> =>
      activity.run(activities.prepareNextTurn, input),
    stop: (input = turnInput): Promise<boolean> =>
      activity.run(activities.shouldStopAfterTurn, input),
  };
}

const failedHook = (message: RegExp | string) => ({
  type: 'HookFailed',
  nonRetryable: true,
  message: typeof message === 'string' ? message : expect.stringMatching(message),
});

describe('what hooks are told', () => {
  test('beforeToolCall: the call as the model sent it, and the arguments to be executed', async () => {
    const hook = vi.fn<(context: unknown) => void>();
    await using world = await createHookWorld({ beforeToolCall: hook });
    expect(await world.before()).toEqual({});
    expect(hook).toHaveBeenCalledWith({
      agent: 'default',
      turn: 3,
      toolCall: call,
      args: { command: 'ls' },
      messages: transcript,
      signal: expect.any(AbortSignal),
    });
  });

  test('arguments by reference are fetched', async () => {
    await using world = await createHookWorld({
      beforeToolCall: ({ args }: { args: object }) => ({ arguments: { seen: args } }),
    });
    const input = { ...callInput, arguments: { digest: 'args' } };
    expect(await world.before(input)).toEqual({ arguments: { seen: { command: 'long' } } });
  });

  test('afterToolCall: the result as well', async () => {
    const hook = vi.fn<(context: unknown) => void>();
    await using world = await createHookWorld({ afterToolCall: hook });
    expect(await world.after()).toEqual({});
    expect(hook).toHaveBeenCalledWith(expect.objectContaining({ result, toolCall: call }));
  });

  test('turn hooks: what the next model call would see, and the whole transcript', async () => {
    const hook = vi.fn<(context: unknown) => void>();
    await using world = await createHookWorld({ prepareNextTurn: hook });
    expect(await world.prepare()).toEqual({});
    expect(hook).toHaveBeenCalledWith({
      agent: 'default',
      turn: 3,
      systemPrompt: 'Be brief.',
      model: 'small',
      thinkingLevel: undefined,
      messages: transcript.slice(-1),
      transcript,
      signal: expect.any(AbortSignal),
    });
  });

  test('a hook this worker does not have changes nothing', async () => {
    await using world = await createHookWorld({});
    expect(await world.before()).toEqual({});
    expect(await world.after()).toEqual({});
    expect(await world.prepare()).toEqual({});
    expect(await world.stop()).toBe(false);
  });
});

describe('what hooks return', () => {
  test('beforeToolCall may block with a reason, or replace arguments', async () => {
    await using blocking = await createHookWorld({
      beforeToolCall: () => ({ block: true, reason: 'no' }),
    });
    expect(await blocking.before()).toEqual({ block: true, reason: 'no' });
    await using replacing = await createHookWorld({
      beforeToolCall: async () => ({ arguments: { a: 1n, b: undefined } }),
    });
    expect(await replacing.before()).toEqual({ arguments: { a: '1' } });
    expect(replacing.remembered.values).toEqual([{ a: '1' }]);
  });

  test('afterToolCall replaces field by field, and the cache gets the message that follows', async () => {
    await using world = await createHookWorld({
      afterToolCall: () => ({ isError: true, details: { a: 1 } }),
    });
    expect(await world.after()).toEqual({ isError: true, details: { a: 1 } });
    expect(world.remembered.messages).toEqual([
      {
        role: 'toolResult',
        toolCallId: 'call-1',
        toolName: 'bash',
        content: result.content,
        details: { a: 1 },
        isError: true,
        durationMs: 5,
      },
    ]);
  });

  test('afterToolCall: content may be a string, and is bounded', async () => {
    await using world = await createHookWorld({
      afterToolCall: () => ({ content: 'x'.repeat(200_000) }),
    });
    const content: unknown = (await world.after()).content;
    expect(JSON.stringify(content).length).toBeLessThan(52_000);
    expect(JSON.stringify(content)).toMatch(/the full text is in \.holdfast\/output\/call-1\.log/);
    await using emptying = await createHookWorld({
      afterToolCall: () => ({ content: [], terminate: true }),
    });
    expect(await emptying.after()).toEqual({ content: [], terminate: true });
  });

  test('prepareNextTurn may change the view; prompt and messages go into the cache', async () => {
    const prepend = [
      { role: 'user', content: 'Remember.' },
      { role: 'custom', customType: 'note', content: [{ type: 'text', text: 'n' }] },
    ];
    const view = {
      systemPrompt: 'New.',
      model: 'large',
      thinkingLevel: 'high',
      dropBefore: 2,
      prepend,
    };
    await using world = await createHookWorld({ prepareNextTurn: () => ({ ...view, other: 1 }) });
    expect(await world.prepare()).toEqual(view);
    expect(world.remembered.values).toEqual(['New.', prepend]);
  });

  test('shouldStopAfterTurn answers true or false', async () => {
    await using stopping = await createHookWorld({ shouldStopAfterTurn: async () => true });
    expect(await stopping.stop()).toBe(true);
    await using silent = await createHookWorld({ shouldStopAfterTurn: () => undefined });
    expect(await silent.stop()).toBe(false);
  });

  const large = 'x'.repeat(payloadLimits.maxPrependBytes);
  const wrong: readonly (readonly [keyof AgentHooks, RegExp, unknown])[] = [
    ['beforeToolCall', /beforeToolCall must return an object or nothing/, 'block'],
    ['beforeToolCall', /beforeToolCall: block must be a boolean/, { block: 'yes' }],
    ['beforeToolCall', /reason must be a string/, { reason: 7 }],
    ['beforeToolCall', /arguments must be an object/, { arguments: [] }],
    [
      'beforeToolCall',
      /more than the 1800000 that are allowed/,
      { arguments: { a: 'x'.repeat(2_000_000) } },
    ],
    ['afterToolCall', /afterToolCall must return an object or nothing/, []],
    ['afterToolCall', /isError must be a boolean/, { isError: 1 }],
    [
      'prepareNextTurn',
      /model "huge" is none of the agent's models: small, large/,
      { model: 'huge' },
    ],
    ['prepareNextTurn', /thinkingLevel must be one of off, minimal/, { thinkingLevel: 'deep' }],
    ['prepareNextTurn', /dropBefore must be a whole number from 0 to 2/, { dropBefore: 3 }],
    ['prepareNextTurn', /dropBefore must be/, { dropBefore: 0.5 }],
    ['prepareNextTurn', /prepend must be a list/, { prepend: 'text' }],
    [
      'prepareNextTurn',
      /user and custom messages/,
      { prepend: [{ role: 'assistant', content: 'x' }] },
    ],
    ['prepareNextTurn', /needs a customType/, { prepend: [{ role: 'custom', content: 'x' }] }],
    ['prepareNextTurn', /more than the 65536/, { prepend: [{ role: 'user', content: large }] }],
    ['prepareNextTurn', /systemPrompt must be a string/, { systemPrompt: 1 }],
    ['shouldStopAfterTurn', /must return true or false/, 'true'],
  ];
  test.each(wrong)(
    'a wrong result of %s is a final failure that names the field: %s',
    async (name, message, value) => {
      await using world = await createHookWorld({ [name]: () => value });
      const activities = {
        beforeToolCall: world.before,
        afterToolCall: world.after,
        prepareNextTurn: world.prepare,
        shouldStopAfterTurn: world.stop,
      };
      const run = activities[name as keyof typeof activities];
      await expect(run()).rejects.toMatchObject(failedHook(message));
    },
  );
});

describe('how hooks fail and end', () => {
  test('a throw is a final HookFailed with its message, without secrets', async () => {
    await using world = await createHookWorld({
      beforeToolCall: () => {
        throw new Error('no access with sk-secret-1');
      },
    });
    world.redactor.register('KEY', 'sk-secret-1');
    await expect(world.before()).rejects.toMatchObject(failedHook('no access with [redacted KEY]'));
  });

  test('results carry no secrets', async () => {
    await using world = await createHookWorld({
      beforeToolCall: () => ({ reason: 'sk-secret-1', arguments: { key: 'sk-secret-1' } }),
      afterToolCall: () => ({ content: 'sk-secret-1' }),
      prepareNextTurn: () => ({
        systemPrompt: 'sk-secret-1',
        prepend: [{ role: 'user', content: 'sk-secret-1' }],
      }),
    });
    world.redactor.register('KEY', 'sk-secret-1');
    for (const answer of [await world.before(), await world.after(), await world.prepare()]) {
      expect(JSON.stringify(answer)).toContain('[redacted KEY]');
      expect(JSON.stringify(answer)).not.toContain('sk-secret-1');
    }
  });

  test('a long message is cut to what a failure may carry', async () => {
    await using world = await createHookWorld({
      shouldStopAfterTurn: () => {
        throw new Error('x'.repeat(100_000));
      },
    });
    await expect(world.stop()).rejects.toMatchObject(failedHook(/^x{1000}…$/));
  });

  test('an agent the config no longer has fails the hook', async () => {
    await using world = await createHookWorld({});
    await expect(world.stop({ ...turnInput, agent: 'gone' })).rejects.toMatchObject(
      failedHook(/no agent named gone/),
    );
  });

  test('a hook heartbeats while it runs', async () => {
    await using world = await createHookWorld({
      shouldStopAfterTurn: async () => {
        await vi.waitFor(() => expect(world.heartbeats.length).toBeGreaterThan(1));
        return false;
      },
    });
    expect(await world.stop()).toBe(false);
  });

  test('an abort reaches the hook and ends the activity as cancelled, whatever the hook does', async () => {
    let seen = false;
    await using world = await createHookWorld({
      beforeToolCall: ({ signal }: { signal: AbortSignal }) => {
        signal.addEventListener('abort', () => (seen = true));
        world.abort();
        return new Promise(() => {});
      },
    });
    await expect(world.before()).rejects.toMatchObject({ name: 'CancelledFailure' });
    expect(seen).toBe(true);
  });

  test('a worker that shuts down leaves the hook to another attempt', async () => {
    await using world = await createHookWorld({
      beforeToolCall: () => {
        world.shutDown();
        return new Promise(() => {});
      },
    });
    await expect(world.before()).rejects.toMatchObject({
      type: 'WorkerShuttingDown',
      nonRetryable: false,
    });
  });
});
