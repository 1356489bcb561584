// The walkthrough's scenarios, each by its number, on a real server with real sockets and processes.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { defineTool } from '../../src/config/index.js';
import { reply, step } from '../../src/testing/scripted-model.js';
import { createAgentWorld, eventsOf, messagesOf } from '../support/agent-world.js';
import {
  eventTypesOf,
  expectSound,
  gate,
  sessionOf,
  spoken,
  untilIdle,
} from '../support/session-steps.js';

const getWeather = (execute: (city: string) => Promise<string> | string) =>
  defineTool({
    name: 'getWeather',
    description: 'Tells the weather of a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    },
    execute: ({ city }) => execute(city as string),
  });

describe('walkthrough', () => {
  test('WT-002: a prompt returns at once with a handle, while the model has not answered', async () => {
    const answer = gate();
    await using world = await createAgentWorld({
      script: [
        reply.raw([step.until(answer.passed), ...parts('Sunny.')]),
        reply.text('Sunny in Seoul, too.'),
      ],
    });
    const session = await sessionOf(world, { prompt: "What's the weather?" });
    await world.model.request(0);
    expect(await session.response()).toBeNull();
    expect((await session.state()).status).toBe('running');
    answer.open();
    await untilIdle(session, 1);
    expect(await session.submit('prompt', 'And in Seoul?')).toEqual({ outcome: 'started' });
    await untilIdle(session, 2);
    expect(await spoken(session)).toEqual([
      "user: What's the weather?",
      'assistant: Sunny.',
      'user: And in Seoul?',
      'assistant: Sunny in Seoul, too.',
    ]);
    await expectSound(world, session);
  });

  test('WT-003: the response is OpenAI-shaped, without reasoning, as result and as query', async () => {
    await using world = await createAgentWorld({
      script: [reply.text("It's 22°C.", { reasoning: 'The caller wants the weather.' })],
    });
    const run = await world.client.start("What's the weather?");
    const { response } = await run.result();
    expect(response).toEqual({ role: 'assistant', content: "It's 22°C." });
    expect(await run.response()).toEqual(response);
    expect(JSON.stringify(await messagesOf(run))).toContain('The caller wants the weather.');
    await expectSound(world, run);
  });

  test('WT-004: a follow-up during a tool call is answered in the same run, after the first answer', async () => {
    const called = gate();
    const weather = gate();
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'getWeather', arguments: { city: 'Tokyo' } }]),
        reply.text('Tokyo: sunny.'),
        reply.text('Seoul: rain.'),
      ],
      config: {
        agents: { default: {} },
        tools: [
          getWeather(async () => {
            called.open();
            await weather.passed;
            return 'Sunny';
          }),
        ],
      },
    });
    const run = await world.client.start("What's the weather in Tokyo?");
    await called.passed;
    expect(await run.submit('followUp', 'Also check Seoul')).toEqual({ outcome: 'queued' });
    weather.open();
    expect((await run.result()).response?.content).toBe('Seoul: rain.');
    expect(await spoken(run)).toEqual([
      "user: What's the weather in Tokyo?",
      'assistant: ',
      'toolResult: Sunny',
      'assistant: Tokyo: sunny.',
      'user: Also check Seoul',
      'assistant: Seoul: rain.',
    ]);
    const types = await eventTypesOf(run);
    expect(types.filter((type) => type === 'agent_start')).toHaveLength(1);
    expect(types.filter((type) => type === 'agent_end')).toHaveLength(1);
    await expectSound(world, run, {
      inputs: [{ message: "What's the weather in Tokyo?" }, { message: 'Also check Seoul' }],
    });
  });

  test('WT-005: close lets the run finish; the session completes and names what was still queued', async () => {
    const called = gate();
    const weather = gate();
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'getWeather', arguments: { city: 'Tokyo' } }]),
        reply.text('Tokyo: sunny.'),
      ],
      config: {
        agents: { default: {} },
        tools: [
          getWeather(async () => {
            called.open();
            await weather.passed;
            return 'Sunny';
          }),
        ],
      },
    });
    const session = await sessionOf(world, { prompt: 'Tokyo?' });
    await called.passed;
    await session.followUp('Also check Seoul', { id: 'seoul' });
    await session.close();
    await expect.poll(async () => (await session.state()).queues.followUpLength).toBe(1);
    weather.open();
    const undelivered = [{ kind: 'followUp', id: 'seoul', preview: 'Also check Seoul' }];
    expect(await session.result()).toMatchObject({ runs: 1, undelivered });
    expect(await session.response()).toEqual({ role: 'assistant', content: 'Tokyo: sunny.' });
    const events = await eventsOf(session);
    expect(events.at(-2)).toMatchObject({ type: 'agent_end', stopReason: 'stop', undelivered });
    expect(events.at(-1)).toMatchObject({ type: 'closed', undelivered });
    const { status } = await world.client.temporal.workflow
      .getHandle(session.workflowId)
      .describe();
    expect(status.name).toBe('COMPLETED');
    await expectSound(world, session, {
      inputs: [{ message: 'Tokyo?' }, { id: 'seoul', message: 'Also check Seoul' }],
    });
  });

  test('WT-010: the request is a POST to /v1/chat/completions with system, user, assistant and tool messages and function tools', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'getWeather', arguments: { city: 'Bangkok' }, id: 'call_1' }], {
          text: 'One moment.',
        }),
        reply.text("It's 22°C in Bangkok"),
      ],
      config: {
        agents: { default: { systemPrompt: 'You are a helpful assistant' } },
        tools: [getWeather((city) => `Sunny in ${city}, 22°C`)],
      },
    });
    const run = await world.client.start('Weather in Bangkok?');
    await run.result();
    const request = await world.model.request(1);
    expect(request.path).toBe('/v1/chat/completions');
    expect(request.headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer sk-test-key-0001',
    });
    expect(request.body).toMatchObject({ model: 'scripted', stream: true });
    expect(request.body.messages).toMatchObject([
      { role: 'system', content: 'You are a helpful assistant' },
      { role: 'user' },
      {
        role: 'assistant',
        content: 'One moment.',
        tool_calls: [
          {
            id: 'call_1',
            type: 'function',
            function: { name: 'getWeather', arguments: '{"city":"Bangkok"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Sunny in Bangkok, 22°C' },
    ]);
    expect(request.body.tools).toContainEqual({
      type: 'function',
      function: expect.objectContaining({
        name: 'getWeather',
        description: 'Tells the weather of a city.',
        parameters: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        },
      }) as unknown,
    });
    await expectSound(world, run);
  });

  test('WT-011: a plain answer ends the run', async () => {
    await using world = await createAgentWorld({ script: [reply.text("It's 22°C in Bangkok")] });
    const run = await world.client.start('Weather?');
    expect(await run.result()).toMatchObject({
      stopReason: 'stop',
      turns: 1,
      newMessages: { from: 0, to: 2 },
      undelivered: [],
    });
    expect(await eventTypesOf(run)).toEqual([
      'agent_start',
      'turn_start',
      'message_start',
      'message_end',
      'message_start',
      'message_end',
      'turn_end',
      'agent_end',
    ]);
    expect(world.model.requests).toHaveLength(1);
    await expectSound(world, run, { inputs: [{ message: 'Weather?' }] });
  });

  test('WT-012: reasoning and several tool calls of one answer become a thinking block and calls, all executed', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls(
          [
            { name: 'getWeather', arguments: { city: 'Bangkok' } },
            { name: 'read', arguments: { path: 'notes.txt' } },
          ],
          { reasoning: 'I need to call getWeather and read the notes.' },
        ),
        reply.text('Done.'),
      ],
      config: { agents: { default: {} }, tools: [getWeather((city) => `Sunny in ${city}`)] },
    });
    await writeFile(join(world.workspace, 'notes.txt'), 'bring an umbrella');
    const run = await world.client.start('Weather and notes?');
    await run.result();
    const [, assistant, ...results] = await messagesOf(run);
    expect(assistant).toMatchObject({
      role: 'assistant',
      stopReason: 'toolUse',
      content: [
        { type: 'thinking', thinking: 'I need to call getWeather and read the notes.' },
        { type: 'toolCall', name: 'getWeather', arguments: { city: 'Bangkok' } },
        { type: 'toolCall', name: 'read', arguments: { path: 'notes.txt' } },
      ],
    });
    expect(results.slice(0, 2)).toMatchObject([
      { role: 'toolResult', toolName: 'getWeather', isError: false },
      { role: 'toolResult', toolName: 'read', isError: false },
    ]);
    expect((await spoken(run))[3]).toContain('bring an umbrella');
    // The reasoning goes back to its provider under the name it came by.
    expect(world.model.requests[1]?.body.messages).toContainEqual(
      expect.objectContaining({
        reasoning_content: 'I need to call getWeather and read the notes.',
      }),
    );
    await expectSound(world, run, { executed: ['call_1', 'call_2'] });
  });

  /** Two time-outs around failures that are retried at once: six attempts. */
  const timesOut = () => [
    reply.hang(),
    ...Array.from({ length: 4 }, () => reply.status(503, 'Busy', { 'retry-after-ms': '1' })),
    reply.hang(),
  ];

  test('WT-030: a model that times out is retried, then a run fails with ModelError', async () => {
    await using world = await createAgentWorld({
      script: timesOut(),
      models: (scripted) => ({ default: { ...scripted, clocks: { firstToken: 300 } } }),
    });
    const run = await world.client.start('Weather?');
    await expect(run.result()).rejects.toMatchObject({
      kind: 'model',
      type: 'ModelError',
      message: expect.stringMatching(/first token/i) as unknown,
    });
    expect(world.model.requests).toHaveLength(6);
    const messages = await messagesOf(run);
    expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant', stopReason: 'error' }]);
    await expectSound(world, run, { inputs: [{ message: 'Weather?' }] });
  });

  test('WT-030: a session whose model times out is idle with the error, and ready for the next prompt', async () => {
    await using world = await createAgentWorld({
      script: [...timesOut(), reply.text('Sunny.')],
      models: (scripted) => ({ default: { ...scripted, clocks: { firstToken: 300 } } }),
    });
    const session = await sessionOf(world, { prompt: 'Weather?' });
    const { lastError } = await untilIdle(session, 1);
    expect(lastError).toMatch(/attempts failed/);
    const end = (await eventsOf(session)).at(-1);
    expect(end).toMatchObject({ type: 'agent_end', stopReason: 'error', errorMessage: lastError });
    await session.prompt('And now?');
    const state = await untilIdle(session, 2);
    expect(state).not.toHaveProperty('lastError');
    expect((await session.response())?.content).toBe('Sunny.');
    // The errored answer stays in the transcript and is left out of what the model is sent.
    const sent = world.model.requests.at(-1)?.body.messages ?? [];
    expect(sent.map(({ role }) => role)).not.toContain('assistant');
    await expectSound(world, session);
  });

  test('WT-031: a tool that throws is an error result, which the model sees, and the loop goes on', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'getWeather', arguments: { city: 'Tokyo' } }]),
        reply.text('The service is down.'),
      ],
      config: {
        agents: { default: {} },
        tools: [
          getWeather(() => {
            throw new Error('network unreachable');
          }),
        ],
      },
    });
    const run = await world.client.start('Weather?');
    expect((await run.result()).response?.content).toBe('The service is down.');
    expect((await messagesOf(run))[2]).toMatchObject({
      role: 'toolResult',
      isError: true,
      content: [{ type: 'text', text: 'network unreachable' }],
    });
    expect(JSON.stringify(world.model.requests[1]?.body.messages)).toContain('network unreachable');
    await expectSound(world, run);
  });

  test("WT-032: a call that beforeToolCall blocks is an error result with the hook's reason; nothing is executed and the loop goes on", async () => {
    const executed: string[] = [];
    const seenByAfter: string[] = [];
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'getWeather', arguments: { city: 'Tokyo' } }]),
        reply.text('I need your approval.'),
      ],
      config: {
        agents: {
          default: {
            hooks: {
              beforeToolCall: () => ({ block: true, reason: 'User must approve' }),
              afterToolCall: ({ toolCall }) => void seenByAfter.push(toolCall.name),
            },
          },
        },
        tools: [
          getWeather((city) => {
            executed.push(city);
            return 'Sunny';
          }),
        ],
      },
    });
    const run = await world.client.start('Weather?');
    expect((await run.result()).response?.content).toBe('I need your approval.');
    expect((await messagesOf(run))[2]).toMatchObject({
      role: 'toolResult',
      isError: true,
      content: [{ type: 'text', text: 'User must approve' }],
    });
    expect(executed).toEqual([]);
    expect(seenByAfter).toEqual([]);
    await expectSound(world, run, { executed: [] });
  });
});

/** The pieces of a plain answer, to be put behind a step. */
function parts(text: string) {
  return reply.text(text).steps;
}
