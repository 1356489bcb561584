// What a provider does wrong, through the whole stack: what is retried, what is final, and that nothing of a
// failed attempt is taken for an answer.

import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { chunk, reply, step } from '../../src/testing/scripted-model.js';
import type { ScriptedReply } from '../../src/testing/scripted-model.js';
import { createAgentWorld, eventsOf, messagesOf } from '../support/agent-world.js';
import { expectSound, scheduled, sessionOf, spoken, untilIdle } from '../support/session-steps.js';

const soon = { 'retry-after-ms': '1' };

const halfCall = [
  chunk.toolCalls({
    index: 0,
    id: 'c1',
    type: 'function',
    function: { name: 'bash', arguments: '{"command":"touch made"' },
  }),
];

describe('a model call', () => {
  test.each<readonly [string, ScriptedReply]>([
    ['L8: a stream that is cut inside call arguments', reply.raw([...halfCall, step.cut])],
    ['L8: a stream that ends without a finish reason', reply.raw([...halfCall])],
    [
      'L13: an error event after two deltas',
      reply.raw([
        chunk.text('Half '),
        chunk.text('an answer'),
        chunk.error({ message: 'overloaded', code: 503 }),
      ]),
    ],
    ['L11: an empty answer', reply.answer({})],
    [
      'L10: an announced call that never comes',
      reply.text('I call', { finishReason: 'tool_calls' }),
    ],
    ['L37: a connection that is closed without an answer', reply.cut()],
    ['503', reply.status(503, 'Busy', soon)],
    ['529', reply.status(529, 'Overloaded', soon)],
    ['429', reply.status(429, { error: { message: 'Slow down' } }, soon)],
  ])('%s is retried; nothing of the failed attempt is executed or kept', async (_, failing) => {
    await using world = await createAgentWorld({ script: [failing, reply.text('Whole.')] });
    const run = await world.client.start('Go');
    await run.result();
    expect(await spoken(run)).toEqual(['user: Go', 'assistant: Whole.']);
    expect((await messagesOf(run))[1]).toMatchObject({ attempts: 2, stopReason: 'stop' });
    expect(await readdir(world.workspace)).toEqual([]);
    // One activity with two attempts: Temporal's retry, not a second call.
    expect((await scheduled(world, run)).map(({ type }) => type)).toEqual([
      'resolveAgent',
      'completeChat',
    ]);
    await expectSound(world, run, { executed: [] });
  });

  test.each<readonly [string, ScriptedReply, RegExp]>([
    ['400', reply.status(400, { error: { message: 'Bad schema' } }), /Bad schema/],
    ['401', reply.status(401, { error: { message: 'No such key' } }), /No such key/],
    ['404', reply.status(404, { error: { message: 'No such model' } }), /No such model/],
    [
      'L19: 429 insufficient_quota',
      reply.status(429, { error: { code: 'insufficient_quota', message: 'Quota exceeded' } }),
      /Quota exceeded/,
    ],
    [
      'L20: Retry-After 18000',
      reply.status(503, 'Busy', { 'retry-after': '18000' }),
      /asks to wait 5 hours/,
    ],
    [
      'a conversation too long for the model',
      reply.status(400, {
        error: {
          code: 'context_length_exceeded',
          message: "This model's maximum context length is 10 tokens.",
        },
      }),
      /context/i,
    ],
  ])('%s is final: a run fails with ModelError and the reason', async (_, failing, reason) => {
    await using world = await createAgentWorld({ script: [failing] });
    const run = await world.client.start('Go');
    await expect(run.result()).rejects.toMatchObject({
      kind: 'model',
      type: 'ModelError',
      message: expect.stringMatching(reason) as unknown,
    });
    expect((await messagesOf(run)).at(-1)).toMatchObject({
      role: 'assistant',
      stopReason: 'error',
      errorMessage: expect.stringMatching(reason) as unknown,
    });
    expect((await eventsOf(run)).at(-1)).toMatchObject({ type: 'agent_end', stopReason: 'error' });
    expect(world.model.requests).toHaveLength(1);
    await expectSound(world, run);
  });

  test('"too many tokens per minute" is throttling, not overflow: it is retried', async () => {
    const text = 'Rate limit: too many tokens per minute, please try again.';
    await using world = await createAgentWorld({
      script: [reply.status(429, { error: { message: text } }, soon), reply.text('Fine.')],
    });
    const run = await world.client.start('Go');
    expect((await run.result()).response?.content).toBe('Fine.');
    await expectSound(world, run);
  });

  test('L17: a run whose first call was retried ends only when the tools of that answer have ended', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.status(503, 'Busy', soon),
        reply.toolCalls([{ name: 'bash', arguments: { command: 'sleep 1; echo finished' } }]),
        reply.text('Done.'),
      ],
    });
    const run = await world.client.start('Go');
    expect(await run.result()).toMatchObject({ response: { content: 'Done.' }, turns: 2 });
    expect(await spoken(run)).toEqual([
      'user: Go',
      'assistant: ',
      'toolResult: finished',
      'assistant: Done.',
    ]);
    await expectSound(world, run);
  });

  test('six failures are the end: the session says so, keeps its queues and goes on', async () => {
    await using world = await createAgentWorld({
      script: [
        ...Array.from({ length: 6 }, () => reply.status(503, 'Busy', soon)),
        reply.text('Back.'),
        reply.text('And more.'),
      ],
    });
    const session = await sessionOf(world);
    await session.followUp('Later', { id: 'f' });
    await session.prompt('Go');
    const state = await untilIdle(session, 1);
    expect(state.lastError).toContain('6 attempts failed');
    expect(state.queues.followUpLength).toBe(1);
    expect(world.model.requests).toHaveLength(6);
    await session.continue();
    await untilIdle(session, 2);
    expect((await session.response())?.content).toBe('And more.');
    await expectSound(world, session, {
      inputs: [{ message: 'Go' }, { id: 'f', message: 'Later' }],
    });
  });

  test('L14: the calls of an errored answer get no results, and later requests carry neither', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'bash', arguments: { command: 'echo x' } }]),
        reply.status(400, { error: { message: 'No' } }),
        reply.text('Fine.'),
      ],
    });
    const session = await sessionOf(world, { prompt: 'Go' });
    await untilIdle(session, 1);
    await session.continue();
    await untilIdle(session, 2);
    expect(world.model.requests[2]?.body.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
    ]);
    await expectSound(world, session);
  });

  test('L35: reasoning with its signature goes back to its provider byte for byte, and to no other model', async () => {
    const details = [
      { type: 'reasoning.encrypted', data: 'b3BhcXVl\u00e9\u0000==', id: 'r1', index: 0 },
    ];
    await using world = await createAgentWorld({
      script: [
        reply.raw([
          chunk.delta({ reasoning: ' Think \n', reasoning_details: details }),
          chunk.toolCalls({
            index: 0,
            id: 'c1',
            type: 'function',
            function: { name: 'bash', arguments: '{"command":"echo x"}' },
          }),
          chunk.finish('tool_calls'),
          chunk.done,
        ]),
        reply.text('Done.'),
        reply.text('Other.'),
      ],
      models: (scripted) => ({
        default: { ...scripted, provider: 'first' },
        other: { ...scripted, provider: 'second' },
      }),
    });
    const run = await world.client.start('Go');
    await run.result();
    const assistant = world.model.requests[1]?.body.messages.find(
      ({ role }) => role === 'assistant',
    );
    expect(assistant).toMatchObject({ reasoning: ' Think \n', reasoning_details: details });
    const other = await world.client.start({
      messages: [...(await messagesOf(run))],
      prompt: 'Go on',
      model: 'other',
    });
    await other.result();
    expect(JSON.stringify(world.model.requests[2]?.body)).not.toMatch(/Think|reasoning/);
    await expectSound(world, run);
  });

  test('L34: close during a tool waits for its result and the answer after it', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'bash', arguments: { command: 'sleep 1; echo finished' } }]),
        reply.text('Done.'),
      ],
    });
    const session = await sessionOf(world, { prompt: 'Go' });
    await expect.poll(async () => (await session.state()).pendingToolCalls.length).toBe(1);
    await session.close();
    await session.result();
    expect((await spoken(session)).slice(-2)).toEqual(['toolResult: finished', 'assistant: Done.']);
    await expectSound(world, session);
  });
});
