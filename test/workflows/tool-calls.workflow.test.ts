// Tool calls and limits through the whole stack: what the model asks for that cannot be done, how much a
// result may be, and when a run must end.

import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { defineTool } from '../../src/config/index.js';
import type { ToolOutput } from '../../src/activities/definitions.js';
import { chunk, reply } from '../../src/testing/scripted-model.js';
import type { Script } from '../../src/testing/scripted-model.js';
import { createAgentWorld, eventsOf, messagesOf } from '../support/agent-world.js';
import {
  eventTypesOf,
  expectSound,
  gate,
  scheduled,
  sessionOf,
  spoken,
  untilIdle,
} from '../support/session-steps.js';

const answering = (name: string, output: ToolOutput) =>
  defineTool({
    name,
    description: 'Answers.',
    parameters: { type: 'object', properties: { text: { type: 'string' } } },
    execute: () => output,
  });

const worldWith = (script: Script, ...tools: readonly ReturnType<typeof defineTool>[]) =>
  createAgentWorld({ script, config: { agents: { default: {} }, tools } });

const call = (...names: readonly string[]) =>
  reply.toolCalls(names.map((name) => ({ name, arguments: {} })));

describe('a tool call', () => {
  test('of an unknown tool is an error result that names the known ones', async () => {
    await using world = await createAgentWorld({ script: [call('bahs'), reply.text('Oh.')] });
    const run = await world.client.start('Go');
    await run.result();
    expect((await messagesOf(run))[2]).toMatchObject({ role: 'toolResult', isError: true });
    expect((await spoken(run))[2]).toMatch(/bahs.*bash.*read.*write.*edit/);
    await expectSound(world, run, { executed: [] });
  });

  test('whose arguments do not fit the schema is an error result naming tool, path and what came', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'read', arguments: { path: ['a'], offset: 'soon' } }]),
        reply.text('Oh.'),
      ],
    });
    const run = await world.client.start('Go');
    await run.result();
    expect((await spoken(run))[2]).toMatch(/read[^]*offset[^]*soon/);
    await expectSound(world, run, { executed: [] });
  });

  test('whose arguments are no JSON keeps the raw text and is not executed', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'bash', arguments: '{"command": ls -la]' }]),
        reply.text('Oh.'),
      ],
    });
    const run = await world.client.start('Go');
    await run.result();
    const [, assistant, result] = await messagesOf(run);
    expect(assistant).toMatchObject({
      content: [
        { type: 'toolCall', arguments: {}, argumentsError: { raw: '{"command": ls -la]' } },
      ],
    });
    expect(result).toMatchObject({ role: 'toolResult', isError: true });
    await expectSound(world, run, { executed: [] });
  });

  test('L6: in an answer that was cut off is not executed, and the run goes on', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'bash', arguments: { command: 'touch made' } }], {
          finishReason: 'length',
        }),
        reply.text('Smaller, then.'),
      ],
    });
    const run = await world.client.start('Go');
    expect(await run.result()).toMatchObject({ stopReason: 'stop', turns: 2 });
    expect((await spoken(run))[2]).toMatch(/cut off.*Nothing was executed/);
    expect(await readdir(world.workspace)).toEqual([]);
    await expectSound(world, run, { executed: [] });
  });

  test('L7: answers that are cut off again and again end the run, and the advice changes', async () => {
    await using world = await createAgentWorld({
      script: () =>
        reply.toolCalls([{ name: 'write', arguments: { path: 'a', content: 'half' } }], {
          finishReason: 'length',
        }),
    });
    const run = await world.client.start('Go');
    expect(await run.result()).toMatchObject({ stopReason: 'limit' });
    const results = (await spoken(run)).filter((line) => line.startsWith('toolResult'));
    expect(results[0]).not.toBe(results[1]);
    expect((await eventsOf(run)).find(({ type }) => type === 'limit_reached')).toMatchObject({
      limit: 'truncatedAnswers',
    });
    expect(world.model.requests.length).toBeLessThan(10);
    await expectSound(world, run, { executed: [] });
  });

  test('calls are taken from the content, whatever the finish reason says', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'bash', arguments: { command: 'touch made' } }], {
          finishReason: 'stop',
        }),
        reply.text('Done.'),
      ],
    });
    const run = await world.client.start('Go');
    await run.result();
    expect(await readdir(world.workspace)).toEqual(['made']);
    await expectSound(world, run);
  });

  test('repeated and missing call ids become unique ones, so that each result answers one call', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([
          { name: 'bash', arguments: { command: 'echo one' }, id: 'same' },
          { name: 'bash', arguments: { command: 'echo two' }, id: 'same' },
          { name: 'bash', arguments: { command: 'echo three' }, id: '' },
        ]),
        reply.toolCalls([{ name: 'bash', arguments: { command: 'echo four' }, id: 'same' }]),
        reply.text('Done.'),
      ],
    });
    const run = await world.client.start('Go');
    await run.result();
    const results = (await messagesOf(run)).filter((message) => message.role === 'toolResult');
    expect(new Set(results.map(({ toolCallId }) => toolCallId)).size).toBe(4);
    expect((await spoken(run)).filter((line) => line.startsWith('toolResult'))).toEqual([
      'toolResult: one',
      'toolResult: two',
      'toolResult: three',
      'toolResult: four',
    ]);
    await expectSound(world, run);
  });

  test('arguments above 2 KB travel by reference, up to that by value', async () => {
    const long = 'long '.repeat(1_000);
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([
          { name: 'write', arguments: { path: 'short.txt', content: 'short' } },
          { name: 'write', arguments: { path: 'long.txt', content: long } },
        ]),
        reply.text('Done.'),
      ],
    });
    const run = await world.client.start('Go');
    await run.result();
    expect(await readFile(join(world.workspace, 'long.txt'), 'utf8')).toBe(long);
    const inputs = (await scheduled(world, run)).filter(({ type }) => type === 'callTool');
    expect(inputs.map(({ input }) => input)).toMatchObject([
      { arguments: { value: { path: 'short.txt', content: 'short' } } },
      { arguments: { digest: expect.any(String) as unknown } },
    ]);
    await expectSound(world, run);
  });

  test('parallel calls run at the same time; their ends come as they finish, their results in source order', async () => {
    const second = gate();
    const tool = defineTool({
      name: 'work',
      description: 'Works.',
      parameters: { type: 'object', properties: { part: { type: 'number' } } },
      execute: async ({ part }) => {
        if (part === 2) second.open();
        else await second.passed;
        return `part ${part as number}`;
      },
    });
    await using world = await worldWith(
      [
        reply.toolCalls([
          { name: 'work', arguments: { part: 1 } },
          { name: 'work', arguments: { part: 2 } },
        ]),
        reply.text('Done.'),
      ],
      tool,
    );
    const run = await world.client.start('Go');
    await run.result();
    const ends = (await eventsOf(run)).flatMap((event) =>
      event.type === 'tool_execution_end' ? [event.toolCallId] : [],
    );
    expect(new Set(ends)).toEqual(new Set(['call_1', 'call_2']));
    expect((await spoken(run)).slice(2, 4)).toEqual(['toolResult: part 1', 'toolResult: part 2']);
    await expectSound(world, run, { executed: ['call_1', 'call_2'] });
  });

  test('bash calls of one answer run at the same time', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([
          {
            name: 'bash',
            arguments: { command: 'while [ ! -f go ]; do sleep 0.05; done; echo went' },
          },
          { name: 'bash', arguments: { command: 'touch go' } },
        ]),
        reply.text('Done.'),
      ],
    });
    const run = await world.client.start('Go');
    await run.result();
    expect((await spoken(run))[2]).toBe('toolResult: went');
    await expectSound(world, run);
  });

  test('sequential execution: start, end and result of a call come before the next call starts', async () => {
    await using world = await worldWith(
      [call('goes', 'goes'), reply.text('Done.')],
      answering('goes', 'on'),
    );
    const run = await world.client.start({ prompt: 'Go', toolExecution: 'sequential' });
    await run.result();
    const events = (await eventsOf(run)).flatMap((event) =>
      'toolCallId' in event ? [`${event.type} ${event.toolCallId}`] : [],
    );
    expect(events).toEqual([
      'tool_execution_start call_1',
      'tool_execution_end call_1',
      'tool_execution_start call_2',
      'tool_execution_end call_2',
    ]);
    await expectSound(world, run);
  });

  test('arguments are prepared, coerced and executed as mended; transcript and events keep the model’s own', async () => {
    const executed: unknown[] = [];
    const tool = defineTool({
      name: 'count',
      description: 'Counts.',
      parameters: {
        type: 'object',
        properties: {
          to: { type: 'number' },
          loud: { type: 'boolean' },
          label: { type: 'string' },
        },
        required: ['to'],
      },
      prepareArguments: ({ upTo, ...rest }) => ({
        ...rest,
        ...(upTo === undefined ? {} : { to: upTo }),
      }),
      execute: (args) => {
        executed.push(args);
        return 'counted';
      },
    });
    const sent = { upTo: '3', loud: 'true', label: null, extra: 'kept' };
    await using world = await worldWith(
      [reply.toolCalls([{ name: 'count', arguments: sent }]), reply.text('Done.')],
      tool,
    );
    const run = await world.client.start('Go');
    await run.result();
    expect(executed).toEqual([{ to: 3, loud: true, extra: 'kept' }]);
    expect((await messagesOf(run))[1]).toMatchObject({ content: [{ arguments: sent }] });
    const start = (await eventsOf(run)).find(({ type }) => type === 'tool_execution_start');
    expect(start).toMatchObject({ args: sent });
    await expectSound(world, run);
  });

  test('details are for people: in the transcript and the event, never sent to the model', async () => {
    await using world = await worldWith(
      [call('talks'), reply.text('Done.')],
      answering('talks', { content: 'for the model', details: { note: 'for people' } }),
    );
    const run = await world.client.start('Go');
    await run.result();
    expect((await messagesOf(run))[2]).toMatchObject({ details: { note: 'for people' } });
    const end = (await eventsOf(run)).find(({ type }) => type === 'tool_execution_end');
    expect(end).toMatchObject({ result: { details: { note: 'for people' } }, isError: false });
    expect(JSON.stringify(world.model.requests[1]?.body)).not.toContain('for people');
    await expectSound(world, run);
  });

  test('a tool without content answers with an empty list', async () => {
    await using world = await worldWith([call('mute'), reply.text('Done.')], answering('mute', {}));
    const run = await world.client.start('Go');
    await run.result();
    expect((await messagesOf(run))[2]).toMatchObject({ content: [], isError: false });
    await expectSound(world, run);
  });

  test('L28: two edits of one file, asked for at once, are both made', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([
          { name: 'edit', arguments: { path: 'f', oldText: 'one', newText: '1' } },
          { name: 'edit', arguments: { path: 'f', oldText: 'two', newText: '2' } },
        ]),
        reply.text('Done.'),
      ],
    });
    await writeFile(join(world.workspace, 'f'), 'one two\n');
    const run = await world.client.start('Go');
    await run.result();
    expect(await readFile(join(world.workspace, 'f'), 'utf8')).toBe('1 2\n');
    await expectSound(world, run);
  });

  test('L30: updates after the result are ignored', async () => {
    const late = gate();
    const tool = defineTool({
      name: 'work',
      description: 'Works.',
      parameters: { type: 'object', properties: {} },
      execute: (_, { update }) => {
        update('before ');
        void late.passed.then(() => update('after'));
        return 'result';
      },
    });
    await using world = await worldWith(
      [
        call('work'),
        async () => {
          late.open();
          return reply.text('Done.');
        },
      ],
      tool,
    );
    const run = await world.client.start('Go');
    await run.result();
    expect(JSON.stringify(await eventsOf(run))).not.toContain('after');
    expect((await spoken(run))[2]).toBe('toolResult: result');
    await expectSound(world, run);
  });
});

test('retries follow the effects of a tool, and every activity has its time-outs', async () => {
  await using world = await createAgentWorld({
    script: [
      reply.toolCalls([
        { name: 'bash', arguments: { command: 'echo x' } },
        { name: 'write', arguments: { path: 'f', content: 'one' } },
        { name: 'read', arguments: { path: 'f' } },
        { name: 'edit', arguments: { path: 'f', oldText: 'one', newText: 'two' } },
      ]),
      reply.text('Done.'),
    ],
  });
  const run = await world.client.start('Go');
  await run.result();
  const activities = await scheduled(world, run);
  expect(activities.map(({ heartbeatSeconds }) => heartbeatSeconds)).toEqual(
    activities.map(() => 4),
  );
  const tools = activities.filter(({ type }) => type === 'callTool');
  expect(tools).toMatchObject([
    { input: { toolName: 'bash', retryable: false }, maximumAttempts: 1 },
    { input: { toolName: 'write', retryable: true }, maximumAttempts: 0 },
    { input: { toolName: 'read', retryable: true }, maximumAttempts: 0 },
    { input: { toolName: 'edit', retryable: false }, maximumAttempts: 1 },
  ]);
  const retried = activities.filter(
    ({ type, maximumAttempts }) => type !== 'resolveAgent' && maximumAttempts === 0,
  );
  expect(retried.map(({ scheduleToCloseSeconds }) => scheduleToCloseSeconds)).toEqual(
    retried.map(() => 6 * 3_600),
  );
  expect(activities.find(({ type }) => type === 'completeChat')).toMatchObject({
    startToCloseSeconds: 20 * 60,
  });
  await expectSound(world, run);
});

describe('large batches', () => {
  test('150 calls of one answer are all executed, each with its result in its place', async () => {
    const tool = defineTool({
      name: 'number',
      description: 'Says its number.',
      parameters: { type: 'object', properties: { number: { type: 'integer' } } },
      execute: ({ number }) => String(number as number),
    });
    const numbers = Array.from({ length: 150 }, (_, number) => number);
    await using world = await worldWith(
      [
        reply.toolCalls(
          numbers.map((number) => ({ name: 'number', arguments: { number }, id: `c${number}` })),
        ),
        reply.text('Done.'),
      ],
      tool,
    );
    const run = await world.client.start('Go');
    await run.result();
    expect((await spoken(run)).slice(2, 152)).toEqual(
      numbers.map((number) => `toolResult: ${number}`),
    );
    await expectSound(world, run);
  });

  test('four results of 1.4 MB that come in at once, each passing a hook, are all recorded', async () => {
    const seen: number[] = [];
    await using world = await createAgentWorld({
      script: [call('talks', 'talks', 'talks', 'talks'), reply.text('Done.')],
      config: {
        agents: {
          default: {
            hooks: { afterToolCall: ({ result }) => void seen.push(JSON.stringify(result).length) },
          },
        },
        tools: [answering('talks', 'y'.repeat(1_400_000))],
      },
    });
    const session = await sessionOf(world, {
      prompt: 'Go',
      limits: { maxToolResultBytes: 1_500_000 },
    });
    await untilIdle(session, 1);
    expect(seen.filter((size) => size > 1_400_000)).toHaveLength(4);
    expect((await spoken(session)).slice(2).map(({ length }) => length)).toEqual([
      ...Array.from({ length: 4 }, () => 'toolResult: '.length + 1_400_000),
      'assistant: Done.'.length,
    ]);
    await expectSound(world, session);
  });

  test('a call with arguments of 1.2 MB executes with all of them', async () => {
    const content = 'z'.repeat(1_200_000);
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'write', arguments: { path: 'f', content } }]),
        reply.text('Done.'),
      ],
    });
    const run = await world.client.start('Go');
    await run.result();
    expect(await readFile(join(world.workspace, 'f'), 'utf8')).toBe(content);
    await expectSound(world, run);
  });

  test('arguments of 500 KB that a hook puts in place are executed', async () => {
    const executed: number[] = [];
    const tool = defineTool({
      name: 'work',
      description: 'Works.',
      parameters: { type: 'object', properties: {} },
      execute: ({ text }) => {
        executed.push((text as string).length);
        return 'done';
      },
    });
    await using world = await createAgentWorld({
      script: [call('work'), reply.text('Done.')],
      config: {
        cacheBytes: 1,
        agents: {
          default: {
            hooks: {
              beforeToolCall: () => ({ arguments: { text: 'q'.repeat(500_000) } }),
              afterToolCall: () => undefined,
            },
          },
        },
        tools: [tool],
      },
    });
    const run = await world.client.start('Go');
    await run.result();
    expect(executed).toEqual([500_000]);
    await expectSound(world, run);
  });
});

describe('terminate', () => {
  const ends = answering('ends', { content: 'over', terminate: true });
  const goes = answering('goes', 'on');

  test('no model call follows when every result of the batch asks for it', async () => {
    await using world = await worldWith([call('ends', 'ends')], ends);
    const run = await world.client.start('Go');
    expect(await run.result()).toMatchObject({ stopReason: 'toolUse', turns: 1 });
    expect(world.model.requests).toHaveLength(1);
    await expectSound(world, run);
  });

  test('one result that does not ask for it is enough for the next call', async () => {
    await using world = await worldWith([call('ends', 'goes'), reply.text('Done.')], ends, goes);
    const run = await world.client.start('Go');
    expect(await run.result()).toMatchObject({ stopReason: 'stop', turns: 2 });
    await expectSound(world, run);
  });

  test('a queued message still causes a turn', async () => {
    await using world = await worldWith([call('ends'), reply.text('Done.')], ends);
    const session = await sessionOf(world);
    await session.followUp('One more thing');
    await session.prompt('Go');
    await untilIdle(session, 1);
    expect((await spoken(session)).slice(2)).toEqual([
      'toolResult: over',
      'user: One more thing',
      'assistant: Done.',
    ]);
    await expectSound(world, session);
  });
});

describe('limits', () => {
  test('L9: maxTurns ends a run that would go on for ever', async () => {
    await using world = await worldWith(() => call('goes'), answering('goes', 'on'));
    const run = await world.client.start({ prompt: 'Go', limits: { maxTurns: 3 } });
    expect(await run.result()).toMatchObject({ stopReason: 'limit', turns: 3 });
    expect(world.model.requests).toHaveLength(3);
    expect((await eventTypesOf(run)).slice(-3)).toEqual(['turn_end', 'limit_reached', 'agent_end']);
    await expectSound(world, run);
  });

  test('maxTotalTokens is a run’s budget: a new run of the session has it anew', async () => {
    await using world = await worldWith(() => call('goes'), answering('goes', 'on'));
    const session = await sessionOf(world, {
      prompt: 'Go',
      limits: { maxTotalTokens: 40 },
    });
    const first = await untilIdle(session, 1);
    expect(world.model.requests).toHaveLength(3);
    expect((await eventsOf(session)).at(-2)).toMatchObject({
      type: 'limit_reached',
      limit: 'maxTotalTokens',
      value: 40,
    });
    await session.continue();
    const second = await untilIdle(session, 2);
    expect(world.model.requests).toHaveLength(6);
    expect(second.usage.total).toBe(2 * first.usage.total);
    await expectSound(world, session);
  });

  test('maxToolResultBytes: the model reads head and tail and where the whole is; the file is there', async () => {
    const text = `${'a'.repeat(6_000)}middle${'z'.repeat(6_000)}`;
    await using world = await worldWith(
      [call('talks'), reply.text('Done.')],
      answering('talks', text),
    );
    const run = await world.client.start({ prompt: 'Go', limits: { maxToolResultBytes: 4_000 } });
    await run.result();
    const result = (await spoken(run))[2] ?? '';
    expect(Buffer.byteLength(result)).toBeLessThanOrEqual(4_000 + 'toolResult: '.length);
    const path = /the full text is in (\S+) …/.exec(result)?.[1] ?? '';
    expect(await readFile(join(world.workspace, path), 'utf8')).toBe(text);
    expect(JSON.stringify(world.model.requests[1]?.body.messages)).toContain(path);
    await expectSound(world, run);
  });

  test('maxImageBytes: a larger image becomes a text that says so', async () => {
    const picture = (size: number) => ({
      content: [{ type: 'image', data: 'A'.repeat(size), mimeType: 'image/png' }] as const,
    });
    await using world = await worldWith(
      [call('large', 'small'), reply.text('Done.')],
      answering('large', picture(2_000)),
      answering('small', picture(100)),
    );
    const run = await world.client.start({ prompt: 'Go', limits: { maxImageBytes: 1_000 } });
    await run.result();
    expect((await messagesOf(run)).slice(2, 4)).toMatchObject([
      {
        content: [{ type: 'text', text: expect.stringContaining('image was left out') as unknown }],
      },
      { content: [{ type: 'image' }] },
    ]);
    await expectSound(world, run);
  });

  test('an answer of 10,000 pieces is one message', async () => {
    const pieces = Array.from({ length: 10_000 }, (_, index) => chunk.text(`${index} `));
    await using world = await createAgentWorld({
      script: [reply.raw([...pieces, chunk.finish('stop'), chunk.done])],
    });
    const run = await world.client.start('Count');
    await run.result();
    expect((await spoken(run))[1]).toMatch(/^assistant: 0 1 2 .* 9999 $/);
    expect((await scheduled(world, run)).map(({ type }) => type)).toEqual([
      'resolveAgent',
      'completeChat',
    ]);
    await expectSound(world, run);
  });
});
