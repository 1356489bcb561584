import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { ToolContext, ToolDefinition } from '../../src/activities/definitions.js';
import { jsonSize, utf8Length } from '../../src/protocol/json.js';
import { payloadLimits } from '../../src/protocol/limits.js';
import { textOf } from '../../src/protocol/messages.js';
import { toToolResultMessage } from '../../src/protocol/tool-result-message.js';
import { gone, processesOf, running, uniqueSleep } from './tools/processes.js';
import { createActivityWorld } from './tools/activity-world.js';

/** A tool that returns, or does, what the test says. */
function toolOf(execute: (context: ToolContext, args: object) => unknown): ToolDefinition {
  return {
    name: 'probe',
    description: 'For tests.',
    parameters: { type: 'object' },
    // Users write tools in JavaScript too: whatever is returned must be dealt with.
    execute: (args, context) => execute(context, args) as string,
  };
}

const failed = (text: string) => ({ content: [{ type: 'text', text }], isError: true });

describe('what callTool runs', () => {
  test('the tool, with its arguments, and tells how long it took', async () => {
    await using world = await createActivityWorld({
      tools: [toolOf((_, args) => JSON.stringify(args))],
    });
    const result = await world.callTool('probe', { arguments: { value: { a: 1 } } });
    expect(result).toEqual({
      content: [{ type: 'text', text: '{"a":1}' }],
      isError: false,
      durationMs: expect.any(Number),
    });
    expect(Number.isInteger(result.durationMs)).toBe(true);
  });

  test('arguments by reference are asked of the workflow', async () => {
    await using world = await createActivityWorld({
      tools: [toolOf((_, args) => JSON.stringify(args))],
      values: { abc: { large: 'value' } },
    });
    const result = await world.callTool('probe', { arguments: { digest: 'abc' } });
    expect(textOf(result.content)).toBe('{"large":"value"}');
  });

  test.each([
    ['a tool this worker does not have', { toolName: 'missing' }, /no tool named missing/],
    ['a tool the agent does not have', { toolName: 'read' }, /no tool named read/],
    ['a name every object has', { toolName: 'constructor' }, /no tool named constructor/],
    ['an unknown agent', { agent: 'other' }, /no agent named other/],
    ['an unknown workspace', { workspace: 'other' }, /no workspace named other/],
  ])('%s is an error result, and nothing is executed', async (_, change, text) => {
    await using world = await createActivityWorld({ agent: { tools: ['bash', 'missing'] } });
    const result = await world.callTool('bash', change);
    expect(result.isError).toBe(true);
    expect(textOf(result.content)).toMatch(text);
    expect(textOf(result.content)).toMatch(/Nothing was executed\.$/);
  });

  test('the policy `deny` is checked again on the worker', async () => {
    const execute = vi.fn<() => string>(() => 'ran');
    await using world = await createActivityWorld({
      tools: [toolOf(execute)],
      agent: { approval: { probe: 'deny' } },
    });
    const result = await world.callTool('probe');
    expect(result.isError).toBe(true);
    expect(textOf(result.content)).toMatch(/policy of this worker denies the tool probe/);
    expect(execute).not.toHaveBeenCalled();
  });

  test('the result goes into the cache as the message the workflow will append', async () => {
    await using world = await createActivityWorld({
      tools: [toolOf(() => ({ content: 'x', details: 1 }))],
    });
    const result = await world.callTool('probe');
    const call = { toolCallId: 'call-1', toolName: 'probe' };
    expect(world.remembered.messages).toEqual([toToolResultMessage(call, result)]);
    expect(world.remembered.values).toEqual([]);
  });

  test('where the agent has afterToolCall, the result goes into the cache as the value it is asked about', async () => {
    await using world = await createActivityWorld({
      tools: [toolOf(() => ({ content: 'x', details: 1 }))],
      agent: { hooks: { afterToolCall: () => undefined } },
    });
    const result = await world.callTool('probe');
    expect(world.remembered.values).toEqual([result]);
  });
});

describe('what callTool makes of a tool’s output', () => {
  const outputs: readonly (readonly [name: string, output: unknown, result: object])[] = [
    [
      'a string is one text block',
      'hi',
      { content: [{ type: 'text', text: 'hi' }], isError: false },
    ],
    ['nothing is an empty list', undefined, { content: [], isError: false }],
    ['missing content is an empty list', { details: { a: 1 } }, { content: [], details: { a: 1 } }],
    ['content may be a string', { content: 'hi' }, { content: [{ type: 'text', text: 'hi' }] }],
    ['isError marks it', { content: 'no', isError: true }, { isError: true }],
    ['terminate is kept', { terminate: true }, { terminate: true }],
    [
      'an image block is kept',
      { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png', x: 1 }] },
      { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] },
    ],
    [
      'a block of an unknown kind is shown as JSON',
      { content: [{ type: 'audio', n: 1n }] },
      { content: [{ type: 'text', text: '{"type":"audio","n":"1"}' }] },
    ],
    ['a value of another kind is shown as JSON', 42, { content: [{ type: 'text', text: '42' }] }],
    [
      'usage is filled up',
      { usage: { input: 3, output: 2 } },
      { usage: { input: 3, output: 2, total: 5, reasoning: 0 } },
    ],
  ];
  test.each(outputs)('%s', async (_, output, result) => {
    await using world = await createActivityWorld({ tools: [toolOf(() => output)] });
    expect(await world.callTool('probe')).toMatchObject(result);
  });

  test('values that JSON cannot carry do not fail the call', async () => {
    const circle: { [key: string]: unknown } = { name: 'circle' };
    circle['self'] = circle;
    const details = {
      circle,
      big: 12n,
      fn: () => 1,
      none: undefined,
      nan: Number.NaN,
      list: [undefined, Symbol('s'), Infinity],
      date: new Date(0),
      error: new TypeError('bad'),
      broken: { toJSON: () => ({ ok: true }) },
    };
    await using world = await createActivityWorld({ tools: [toolOf(() => ({ details }))] });
    expect((await world.callTool('probe')).details).toEqual({
      circle: { name: 'circle', self: '[circular]' },
      big: '12',
      nan: null,
      list: [null, null, null],
      date: '1970-01-01T00:00:00.000Z',
      error: 'TypeError: bad',
      broken: { ok: true },
    });
  });

  test('details that throw when read, or are nested without end, become a note', async () => {
    let deep: object = {};
    for (let level = 0; level < 100_000; level++) deep = { deep };
    const throwing = {
      get x() {
        throw new Error('unreadable');
      },
    };
    for (const details of [throwing, deep]) {
      await using world = await createActivityWorld({
        tools: [toolOf(() => ({ content: 'ok', details }))],
      });
      const result = await world.callTool('probe');
      expect(textOf(result.content)).toBe('ok');
      expect(JSON.stringify(result.details)).toMatch(/unreadable|too deeply nested/);
    }
  });

  test('lone surrogates and NULs are replaced, pairs are kept', async () => {
    await using world = await createActivityWorld({ tools: [toolOf(() => 'a\ud800b\0c😀\udc00')] });
    expect(textOf((await world.callTool('probe')).content)).toBe('a\ufffdb\ufffdc😀\ufffd');
  });

  test('an exception is an error result with its message', async () => {
    await using world = await createActivityWorld({
      tools: [
        toolOf(() => {
          throw new Error('It broke.');
        }),
      ],
    });
    expect(await world.callTool('probe')).toMatchObject(failed('It broke.'));
  });

  test('a rejection with anything is an error result', async () => {
    await using world = await createActivityWorld({ tools: [toolOf(() => Promise.reject(7))] });
    expect(await world.callTool('probe')).toMatchObject(failed('7'));
  });
});

describe('how callTool bounds a result', () => {
  test('a long text keeps head and tail; the whole is in a file whose path is told', async () => {
    const text = Array.from({ length: 20_000 }, (_, line) => `line ${line} é\n`).join('');
    await using world = await createActivityWorld({ tools: [toolOf(() => text)] });
    const cut = textOf((await world.callTool('probe', { maxResultBytes: 5_000 })).content);
    expect(utf8Length(cut)).toBeLessThanOrEqual(5_000);
    expect(cut).toMatch(/^line 0 é\n[\s\S]*line 19999 é\n$/);
    const path = /left out; the full text is in (\S+) …\]/.exec(cut)?.[1] ?? '';
    expect(path).toBe('.holdfast/output/call-1.log');
    expect(await readFile(join(world.root, path), 'utf8')).toBe(text);
  });

  test('a text that just fits is not touched', async () => {
    await using world = await createActivityWorld({ tools: [toolOf(() => 'é'.repeat(2_500))] });
    const result = await world.callTool('probe', { maxResultBytes: 5_000 });
    expect(textOf(result.content)).toBe('é'.repeat(2_500));
  });

  test('an image above the limit becomes a text that says so', async () => {
    const image = { type: 'image', data: 'A'.repeat(200_000), mimeType: 'image/png' };
    await using world = await createActivityWorld({
      tools: [toolOf(() => ({ content: [image] }))],
    });
    const result = await world.callTool('probe');
    expect(result.content).toHaveLength(1);
    expect(textOf(result.content)).toMatch(
      /An image was left out: image\/png, .* larger than the limit/,
    );
  });

  test('details above their bound are replaced by a note', async () => {
    await using world = await createActivityWorld({
      tools: [toolOf(() => ({ details: 'x'.repeat(payloadLimits.maxDetailsBytes) }))],
    });
    const { details } = await world.callTool('probe');
    expect(details).toEqual({ omitted: expect.stringMatching(/^Details of .* were left out\.$/) });
  });

  test.each([
    [
      'images',
      {
        content: Array.from({ length: 8 }, () => ({
          type: 'image',
          data: 'A'.repeat(500_000),
          mimeType: 'image/png',
        })),
      },
    ],
    ['control characters', '\u0001'.repeat(1_500_000)],
    ['a million empty blocks', { content: Array.from({ length: 200_000 }, () => '') }],
  ])('the whole fits in a payload, whatever the limits say: %s', async (_, output) => {
    await using world = await createActivityWorld({ tools: [toolOf(() => output)] });
    const result = await world.callTool('probe', { maxResultBytes: 9e6, maxImageBytes: 9e6 });
    expect(jsonSize(result)).toBeLessThanOrEqual(payloadLimits.maxPayloadBytes);
    expect(result.isError).toBe(false);
  });
});

test('a result that cannot be read is an error that says the tool ran', async () => {
  const output = {
    get content(): string {
      throw new Error('no more');
    },
  };
  await using world = await createActivityWorld({ tools: [toolOf(() => output)] });
  expect(await world.callTool('probe')).toMatchObject({
    content: [{ type: 'text', text: 'The tool ran, but its result cannot be read: no more' }],
    isError: true,
  });
});

describe('what callTool shows while a tool runs', () => {
  test('the end of the output, at most 8 KB, with its offset', async () => {
    await using world = await createActivityWorld({
      tools: [
        toolOf(async ({ update }) => {
          for (let index = 0; index < 3_000; index++) update(`chunk ${index} é\n`);
          await vi.waitFor(() => expect(world.heartbeats.length).toBeGreaterThan(1));
          return 'done';
        }),
      ],
    });
    await world.callTool('probe');
    const whole = Array.from({ length: 3_000 }, (_, index) => `chunk ${index} é\n`).join('');
    const progress = world.heartbeats.at(-1);
    expect(progress).toMatchObject({
      kind: 'tool',
      toolCallId: 'call-1',
      toolName: 'probe',
      attempt: 1,
    });
    const { offset = 0, tail = '' } = progress?.output ?? {};
    expect(utf8Length(tail)).toBeLessThanOrEqual(8 * 1024);
    expect(utf8Length(tail)).toBeGreaterThan(8 * 1024 - 4);
    expect(whole.slice(offset)).toBe(tail);
  });

  test('updates after the result are dropped', async () => {
    let late: ((text: string) => void) | undefined;
    await using world = await createActivityWorld({
      tools: [
        toolOf(({ update }) => {
          late = update;
          return 'done';
        }),
      ],
    });
    await world.callTool('probe');
    late?.('too late');
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(JSON.stringify(world.heartbeats)).not.toContain('too late');
  });

  test('a secret split between two updates is not shown', async () => {
    await using world = await createActivityWorld({
      tools: [
        toolOf(async ({ update }) => {
          update('key: sk-secr');
          await vi.waitFor(() => expect(world.heartbeats.length).toBeGreaterThan(0));
          update('et-123456 end');
          const seen = world.heartbeats.length;
          await vi.waitFor(() => expect(world.heartbeats.length).toBeGreaterThan(seen));
          return 'sk-secret-123456';
        }),
      ],
    });
    world.redactor.register('KEY', 'sk-secret-123456');
    const result = await world.callTool('probe');
    expect(world.heartbeats[0]?.output).toEqual({ offset: 0, tail: 'key: ' });
    expect(world.heartbeats.at(-1)?.output.tail).toBe('key: [redacted KEY] end');
    expect(textOf(result.content)).toBe('[redacted KEY]');
  });
});

describe('secrets in what callTool returns', () => {
  const secret = 'sk-secret-"123456"';

  test('are replaced in text, details, the full-text file and an exception’s message', async () => {
    await using world = await createActivityWorld({
      tools: [
        toolOf((_, args) => {
          if ('fail' in args) throw new Error(`denied: ${secret}`);
          return {
            content: `${secret}${'x'.repeat(9_000)}`,
            details: { [secret]: JSON.stringify(secret) },
          };
        }),
      ],
    });
    world.redactor.register('KEY', secret);
    const result = await world.callTool('probe', { maxResultBytes: 2_000 });
    const file = await readFile(join(world.root, '.holdfast/output/call-1.log'), 'utf8');
    expect(textOf(result.content)).toMatch(/^\[redacted KEY\]/);
    expect(file).toMatch(/^\[redacted KEY\]x/);
    expect(result.details).toEqual({ '[redacted KEY]': '"[redacted KEY]"' });
    const thrown = await world.callTool('probe', { arguments: { value: { fail: true } } });
    expect(thrown).toMatchObject(failed('denied: [redacted KEY]'));
  });

  test('a command cannot read the worker’s key from its own environment or the worker’s', async () => {
    const value = process.env['PATH'] ?? '';
    await using world = await createActivityWorld({
      environment: { ...process.env, MODEL_KEY: value },
    });
    world.redactor.register('MODEL_KEY', value);
    const command = `env; cat /proc/$PPID/environ /proc/${process.pid}/environ`;
    const result = await world.callTool('bash', { arguments: { value: { command } } });
    expect(textOf(result.content)).toContain('PATH=[redacted MODEL_KEY]');
    expect(JSON.stringify(result)).not.toContain(value);
  });

  test('variables that the config names are passed on, but not one that holds a secret', async () => {
    await using world = await createActivityWorld({
      config: { toolEnvironment: ['EXTRA', 'MODEL_KEY', 'COPY'] },
      environment: {
        PATH: process.env['PATH'],
        EXTRA: 'extra',
        MODEL_KEY: secret,
        COPY: `x${secret}`,
      },
    });
    world.redactor.register('MODEL_KEY', secret);
    const result = await world.callTool('bash', { arguments: { value: { command: 'env' } } });
    expect(textOf(result.content)).toContain('EXTRA=extra');
    expect(textOf(result.content)).not.toMatch(/MODEL_KEY|COPY/);
  });

  test('failures of the activity are redacted too', async () => {
    await using world = await createActivityWorld();
    world.redactor.register('KEY', secret);
    const dependencies = {
      ...world.dependencies,
      conversation: () => {
        throw new Error(`no connection with ${secret}`);
      },
    };
    const { createCallTool } = await import('../../src/activities/call-tool.js');
    const call = world.activity.run(createCallTool(dependencies), {} as never);
    await expect(call).rejects.toMatchObject({ message: 'no connection with [redacted KEY]' });
  });
});

describe('how callTool ends a tool', () => {
  test('its time is up: the signal aborts and the result says so', async () => {
    const tool = toolOf(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    await using world = await createActivityWorld({ tools: [{ ...tool, timeoutMs: 50 }] });
    expect(await world.callTool('probe')).toMatchObject(failed('timed out after 0.05 s'));
  });

  test('a time-out longer than a timer can be is no time-out at once', async () => {
    const tool = toolOf(() => new Promise((resolve) => setTimeout(() => resolve('done'), 50)));
    await using world = await createActivityWorld({ tools: [{ ...tool, timeoutMs: 1e12 }] });
    expect(textOf((await world.callTool('probe')).content)).toBe('done');
  });

  test('aborted: the real result of a tool that minds its signal', async () => {
    await using world = await createActivityWorld({
      tools: [
        toolOf(
          ({ signal }) =>
            new Promise((resolve) => {
              signal.addEventListener('abort', () => resolve('as far as it got'));
              world.abort();
            }),
        ),
      ],
    });
    const result = await world.callTool('probe');
    expect(result).toMatchObject({ content: [{ text: 'as far as it got' }], isError: false });
  });

  test('aborted: "aborted" where the tool throws', async () => {
    await using world = await createActivityWorld({
      tools: [
        toolOf(
          ({ signal }) =>
            new Promise((_, reject) => {
              signal.addEventListener('abort', () => reject(new Error('socket closed')));
              world.abort();
            }),
        ),
      ],
    });
    expect(await world.callTool('probe')).toMatchObject(failed('aborted'));
  });

  test('aborted: a tool that ignores it is waited for, but not for ever', async () => {
    await using world = await createActivityWorld({
      tools: [
        toolOf(() => {
          world.abort();
          return new Promise(() => {});
        }),
      ],
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const call = world.callTool('probe');
      await vi.advanceTimersByTimeAsync(9_999);
      let settled = false;
      void call.then(() => (settled = true));
      await vi.advanceTimersByTimeAsync(0);
      expect(settled).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(await call).toMatchObject(failed('aborted, may still be running'));
    } finally {
      vi.useRealTimers();
    }
  });

  test('aborted before it began: nothing is executed', async () => {
    const execute = vi.fn<() => string>(() => 'ran');
    await using world = await createActivityWorld({ tools: [toolOf(execute)] });
    world.abort();
    const result = await world.callTool('probe');
    expect(textOf(result.content)).toMatch(/Aborted\. This call was not executed/);
    expect(execute).not.toHaveBeenCalled();
  });

  test('aborted while its arguments are fetched: nothing is executed', async () => {
    const execute = vi.fn<() => string>(() => 'ran');
    await using world = await createActivityWorld({ tools: [toolOf(execute)] });
    const call = world.callTool('probe', { arguments: { digest: 'unknown' } });
    world.abort();
    expect(textOf((await call).content)).toMatch(/not executed/);
    expect(execute).not.toHaveBeenCalled();
  });

  test('aborted: the process tree of bash is dead and its output kept', async () => {
    await using world = await createActivityWorld();
    const sleep = uniqueSleep();
    const command = `echo partial; setsid ${sleep} & wait`;
    const call = world.callTool('bash', { arguments: { value: { command } } });
    await running(sleep);
    world.abort();
    expect(await call).toMatchObject(failed('partial\n[Aborted. Its processes were killed]'));
    expect(processesOf(sleep)).toEqual([]);
  });

  test.each([true, false])(
    'the worker shuts down: the attempt fails retryably and the process tree is dead (retryable call: %s)',
    async (retryable) => {
      await using world = await createActivityWorld();
      const sleep = uniqueSleep();
      const call = world.callTool('bash', {
        arguments: { value: { command: `${sleep}; true` } },
        retryable,
      });
      const outcome = call.catch((error: unknown) => error);
      await running(sleep);
      world.shutDown();
      expect(await outcome).toMatchObject({ type: 'WorkerShuttingDown', nonRetryable: false });
      await gone(sleep);
      expect(world.remembered.messages).toEqual([]);
    },
  );

  test('in a second attempt, as after a pause, a tool that must not run twice is not run', async () => {
    await using world = await createActivityWorld({ attempt: 2 });
    const args = { value: { command: 'touch ran' } };
    const again = world.callTool('bash', { arguments: args, retryable: false });
    await expect(again).rejects.toMatchObject({ type: 'WorkerShuttingDown', nonRetryable: true });
    expect(await readdir(world.root)).toEqual([]);
    expect(await world.callTool('bash', { arguments: args, retryable: true })).toMatchObject({
      isError: false,
    });
    expect(await readdir(world.root)).toContain('ran');
  });
});
