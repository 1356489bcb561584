// The seven hooks of a config, through the whole stack: what each is told, what it may change, and what its
// throw means.

import { describe, expect, test } from 'vitest';
import type { AgentHooks, TurnHookContext } from '../../src/activities/definitions.js';
import { defineTool } from '../../src/config/index.js';
import { reply } from '../../src/testing/scripted-model.js';
import type { Script } from '../../src/testing/scripted-model.js';
import { createAgentWorld, eventsOf, messagesOf } from '../support/agent-world.js';
import type { AgentWorld } from '../support/agent-world.js';
import { expectSound, sessionOf, spoken, untilIdle } from '../support/session-steps.js';

const executed: unknown[] = [];

const echo = defineTool({
  name: 'echo',
  description: 'Says it.',
  parameters: {
    type: 'object',
    properties: { text: { type: 'string' }, times: { type: 'number' } },
    required: ['text'],
  },
  execute: (args) => {
    executed.push(args);
    return { content: `echo ${args['text'] as string}`, details: { from: 'tool' } };
  },
});

function hookedWorld(hooks: AgentHooks, script: Script): Promise<AgentWorld> {
  executed.length = 0;
  return createAgentWorld({
    script,
    config: { agents: { default: { systemPrompt: 'Base.', hooks } }, tools: [echo] },
    models: (scripted) => ({ default: scripted, other: { ...scripted, model: 'larger' } }),
  });
}

const callEcho = (text = 'hi') => reply.toolCalls([{ name: 'echo', arguments: { text } }]);

const bodyOf = (world: AgentWorld, index: number) => world.model.requests[index]?.body;

describe('hooks before a model call', () => {
  test('transformContext changes what this call sees, never the transcript', async () => {
    await using world = await hookedWorld(
      {
        transformContext: (messages, { turn }) =>
          turn === 1
            ? [...messages, { role: 'user', content: 'Only for now', timestamp: 0 }]
            : messages,
      },
      [callEcho(), reply.text('Done.')],
    );
    const run = await world.client.start('Go');
    await run.result();
    expect(JSON.stringify(bodyOf(world, 0))).toContain('Only for now');
    expect(JSON.stringify(bodyOf(world, 1))).not.toContain('Only for now');
    expect(JSON.stringify(await messagesOf(run))).not.toContain('Only for now');
    await expectSound(world, run);
  });

  test('convertToLlm replaces the conversion and gets what transformContext gave', async () => {
    await using world = await hookedWorld(
      {
        transformContext: (messages) => messages.slice(-1),
        convertToLlm: (messages) => [{ role: 'user', content: `${messages.length} message` }],
      },
      [callEcho(), reply.text('Done.')],
    );
    const run = await world.client.start({ prompt: ['One', 'Two'] });
    await run.result();
    for (const index of [0, 1]) {
      expect(bodyOf(world, index)?.messages).toEqual([
        { role: 'system', content: 'Base.' },
        { role: 'user', content: '1 message' },
      ]);
    }
    await expectSound(world, run);
  });

  test('getApiKey is asked on every call', async () => {
    let calls = 0;
    await using world = await hookedWorld({ getApiKey: () => `sk-rotating-${++calls}` }, [
      callEcho(),
      reply.text('Done.'),
    ]);
    const run = await world.client.start('Go');
    await run.result();
    expect(world.model.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sk-rotating-1',
      'Bearer sk-rotating-2',
    ]);
    await expectSound(world, run);
  });

  test.each(['transformContext', 'convertToLlm', 'getApiKey'] as const)(
    'a throw of %s ends the run in an error that names it; the session lives',
    async (name) => {
      let throws = true;
      const hook = () => {
        if (throws) throw new Error('hook broke');
        return name === 'getApiKey' ? undefined : [];
      };
      await using world = await hookedWorld({ [name]: hook }, [reply.text('Fine.')]);
      const session = await sessionOf(world, { prompt: 'Go' });
      const { lastError } = await untilIdle(session, 1);
      expect(lastError).toContain(name);
      expect(lastError).toContain('hook broke');
      throws = false;
      await session.prompt('Again');
      await untilIdle(session, 2);
      expect((await session.response())?.content).toBe('Fine.');
      await expectSound(world, session);
    },
  );
});

describe('hooks around a tool call', () => {
  test('beforeToolCall may replace arguments, which are not validated again; the transcript keeps the model’s own', async () => {
    await using world = await hookedWorld(
      {
        beforeToolCall: ({ args, toolCall, turn }) => ({
          arguments: { text: `${toolCall.name} ${turn} ${args['text'] as string}`, times: 'many' },
        }),
      },
      [callEcho('hi'), reply.text('Done.')],
    );
    const run = await world.client.start('Go');
    await run.result();
    expect(executed).toEqual([{ text: 'echo 1 hi', times: 'many' }]);
    expect((await messagesOf(run))[1]).toMatchObject({
      content: [{ type: 'toolCall', arguments: { text: 'hi' } }],
    });
    const start = (await eventsOf(run)).find(({ type }) => type === 'tool_execution_start');
    expect(start).toMatchObject({ args: { text: 'hi' } });
    await expectSound(world, run);
  });

  test('a throw of beforeToolCall is an error result for this call only', async () => {
    await using world = await hookedWorld(
      {
        beforeToolCall: ({ args }) => {
          if (args['text'] === 'bad') throw new Error('cannot check');
        },
      },
      [
        reply.toolCalls([
          { name: 'echo', arguments: { text: 'bad' } },
          { name: 'echo', arguments: { text: 'good' } },
        ]),
        reply.text('Done.'),
      ],
    );
    const run = await world.client.start('Go');
    await run.result();
    expect((await spoken(run)).slice(2, 4)).toEqual([
      'toolResult: This call was not executed, because the check before it failed: cannot check',
      'toolResult: echo good',
    ]);
    expect(executed).toEqual([{ text: 'good' }]);
    await expectSound(world, run, { executed: ['call_2'] });
  });

  test('afterToolCall replaces content, details, isError and terminate field by field', async () => {
    await using world = await hookedWorld(
      {
        afterToolCall: ({ result, args }) =>
          args['text'] === 'content'
            ? { content: [{ type: 'text', text: `redacted ${result.content.length}` }] }
            : { isError: true, details: { from: 'hook' }, terminate: true },
      },
      [
        reply.toolCalls([
          { name: 'echo', arguments: { text: 'content' } },
          { name: 'echo', arguments: { text: 'flags' } },
        ]),
        reply.text('Done.'),
      ],
    );
    const run = await world.client.start('Go');
    await run.result();
    expect((await messagesOf(run)).slice(2, 4)).toMatchObject([
      { content: [{ text: 'redacted 1' }], isError: false, details: { from: 'tool' } },
      { content: [{ text: 'echo flags' }], isError: true, details: { from: 'hook' } },
    ]);
    await expectSound(world, run);
  });

  test('L29: a throw of afterToolCall is an error result for that call, the others keep theirs', async () => {
    await using world = await hookedWorld(
      {
        afterToolCall: ({ args }) => {
          if (args['text'] === 'bad') throw new Error('cannot review');
        },
      },
      [
        reply.toolCalls([
          { name: 'echo', arguments: { text: 'bad' } },
          { name: 'echo', arguments: { text: 'good' } },
        ]),
        reply.text('Done.'),
      ],
    );
    const run = await world.client.start('Go');
    await run.result();
    expect((await spoken(run)).slice(2, 4)).toEqual([
      'toolResult: This call was executed, but handling its result failed: cannot review',
      'toolResult: echo good',
    ]);
    await expectSound(world, run);
  });
});

describe('hooks between turns', () => {
  test('prepareNextTurn changes what the rest of the run sees; the transcript is not rewritten', async () => {
    await using world = await hookedWorld(
      {
        prepareNextTurn: ({ turn }) =>
          turn === 1
            ? {
                systemPrompt: 'Changed.',
                model: 'other',
                thinkingLevel: 'low',
                dropBefore: 1,
                prepend: [{ role: 'user', content: 'Summary of what came before' }],
              }
            : undefined,
      },
      [callEcho(), callEcho(), reply.text('Done.'), reply.text('Fresh.')],
    );
    const session = await sessionOf(world, { prompt: 'The very first' });
    await untilIdle(session, 1);
    expect(bodyOf(world, 0)).toMatchObject({ model: 'scripted' });
    for (const index of [1, 2]) {
      const body = bodyOf(world, index);
      expect(body).toMatchObject({ model: 'larger', reasoning_effort: 'low' });
      expect(body?.messages.slice(0, 3)).toMatchObject([
        { role: 'system', content: 'Changed.' },
        { role: 'user' },
        { role: 'assistant' },
      ]);
      expect(JSON.stringify(body)).toContain('Summary of what came before');
      expect(JSON.stringify(body)).not.toContain('The very first');
    }
    const said = await spoken(session);
    expect(said[0]).toBe('user: The very first');
    expect(said.join()).not.toContain('Summary');

    // The view ends with its run.
    await session.prompt('Next');
    await untilIdle(session, 2);
    expect(bodyOf(world, 3)).toMatchObject({ model: 'scripted' });
    expect(bodyOf(world, 3)?.messages[0]).toMatchObject({ content: 'Base.' });
    expect(JSON.stringify(bodyOf(world, 3))).toContain('The very first');
    await expectSound(world, session);
  });

  test('shouldStopAfterTurn sees the changed view; true ends the run and no queue is polled', async () => {
    const seen: TurnHookContext[] = [];
    await using world = await hookedWorld(
      {
        prepareNextTurn: () => ({ systemPrompt: 'Changed.', dropBefore: 1 }),
        shouldStopAfterTurn: (context) => {
          seen.push(context);
          return true;
        },
      },
      [callEcho()],
    );
    const session = await sessionOf(world);
    await session.followUp('Later');
    await session.steer('Enters turn 1');
    await session.steer('Sooner');
    await session.prompt('Go');
    const state = await untilIdle(session, 1);
    expect(state.queues).toMatchObject({ steeringLength: 1, followUpLength: 1 });
    expect(seen).toMatchObject([
      {
        turn: 1,
        systemPrompt: 'Changed.',
        messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'toolResult' }],
        transcript: [
          { role: 'user' },
          { role: 'user' },
          { role: 'assistant' },
          { role: 'toolResult' },
        ],
      },
    ]);
    expect((await eventsOf(session)).at(-1)).toMatchObject({ stopReason: 'toolUse' });
    await expectSound(world, session);
  });

  test.each(['prepareNextTurn', 'shouldStopAfterTurn'] as const)(
    'a throw of %s fails a run with HookError and leaves a session usable',
    async (name) => {
      let throws = true;
      const hook = () => {
        if (throws) throw new Error('hook broke');
      };
      await using world = await hookedWorld({ [name]: hook }, () => reply.text('Fine.'));
      const run = await world.client.start('Go');
      await expect(run.result()).rejects.toMatchObject({
        kind: 'hook',
        type: 'HookError',
        message: expect.stringMatching(new RegExp(`${name}.*hook broke`)) as unknown,
      });
      const session = await sessionOf(world, { prompt: 'Go' });
      expect((await untilIdle(session, 1)).lastError).toContain('hook broke');
      throws = false;
      await session.prompt('Again');
      expect(await untilIdle(session, 2)).not.toHaveProperty('lastError');
      await expectSound(world, run);
      await expectSound(world, session);
    },
  );

  test('after a model error no hook between turns runs and no queue is polled', async () => {
    const hooked: string[] = [];
    await using world = await hookedWorld(
      {
        prepareNextTurn: () => void hooked.push('prepareNextTurn'),
        shouldStopAfterTurn: () => hooked.push('shouldStopAfterTurn') === 0,
      },
      [reply.status(400, { error: { message: 'No' } })],
    );
    const session = await sessionOf(world);
    await session.followUp('Later');
    await session.prompt('Go');
    expect((await untilIdle(session, 1)).queues.followUpLength).toBe(1);
    expect(hooked).toEqual([]);
    await expectSound(world, session);
  });
});
