// What became of each input: the update `submit`, ids that count once, and what is rejected.

import { describe, expect, test } from 'vitest';
import { reply } from '../../src/testing/scripted-model.js';
import { createAgentWorld, eventsOf } from '../support/agent-world.js';
import { expectSound, gate, sessionOf, spoken, untilIdle } from '../support/session-steps.js';

describe('submit', () => {
  test('L39: answers started, queued, accepted, rejected and duplicate', async () => {
    const answer = gate();
    await using world = await createAgentWorld({
      script: [
        async () => {
          await answer.passed;
          return reply.text('1');
        },
        reply.text('2'),
        reply.text('3'),
      ],
    });
    const session = await sessionOf(world);
    expect(await session.submit('prompt', 'Go', { id: 'p' })).toEqual({ outcome: 'started' });
    await world.model.request(0);
    expect(await session.submit('steer', 'S', { id: 's' })).toEqual({ outcome: 'queued' });
    expect(await session.submit('followUp', 'F', { id: 'f' })).toEqual({ outcome: 'queued' });
    expect(await session.submit('prompt', 'No', { id: 'n' })).toMatchObject({
      outcome: 'rejected',
    });
    expect(await session.submit('approve', {}, { id: 'a' })).toEqual({
      outcome: 'rejected',
      reason: 'No approval is pending.',
    });
    expect(await session.submit('steer', 'S', { id: 's' })).toEqual({
      outcome: 'duplicate',
      first: { outcome: 'queued' },
    });
    expect(await session.submit('prompt', 'No', { id: 'n' })).toMatchObject({
      outcome: 'duplicate',
      first: { outcome: 'rejected' },
    });
    answer.open();
    await untilIdle(session, 1);
    expect(await session.submit('close', undefined, { id: 'c' })).toEqual({ outcome: 'accepted' });
    await session.result();
    expect(await spoken(session)).toEqual([
      'user: Go',
      'assistant: 1',
      'user: S',
      'assistant: 2',
      'user: F',
      'assistant: 3',
    ]);
    await expectSound(world, session, {
      inputs: [
        { id: 'p', message: 'Go' },
        { id: 's', message: 'S' },
        { id: 's', message: 'S' },
        { id: 'f', message: 'F' },
        { id: 'n', message: 'No' },
      ],
    });
  });

  test('the same id counts once across kinds, signals and submit; the first wins', async () => {
    await using world = await createAgentWorld({ script: [reply.text('1')] });
    const session = await sessionOf(world);
    await session.steer('First', { id: 'x' });
    await session.followUp('Second', { id: 'x' });
    await session.prompt('Third', { id: 'x' });
    expect(await session.submit('followUp', 'Fourth', { id: 'x' })).toEqual({
      outcome: 'duplicate',
      first: { outcome: 'queued' },
    });
    expect((await session.state()).queues).toMatchObject({ steeringLength: 1, followUpLength: 0 });
    await session.prompt('Go', { id: 'y' });
    await session.prompt('Go', { id: 'y' });
    await untilIdle(session, 1);
    expect(await spoken(session)).toEqual(['user: Go', 'user: First', 'assistant: 1']);
    expect((await eventsOf(session)).some(({ type }) => type === 'rejected')).toBe(false);
    await expectSound(world, session);
  });

  test('an input that is not understood is rejected with the field, recorded, and changes nothing', async () => {
    await using world = await createAgentWorld();
    const session = await sessionOf(world);
    const handle = world.client.temporal.workflow.getHandle(session.workflowId);
    await handle.signal('steer', { txt: 'misspelt' });
    await handle.signal('followUp', 7);
    await handle.signal('prompt', []);
    await handle.signal('approve', { toolCall: 'x' });
    const rejected = (await eventsOf(session)).filter(({ type }) => type === 'rejected');
    expect(rejected).toMatchObject([
      { kind: 'steer', reason: expect.stringContaining('message') as unknown },
      { kind: 'followUp' },
      { kind: 'prompt' },
      { kind: 'approve', reason: expect.stringContaining('toolCall') as unknown },
    ]);
    expect(await session.state()).toMatchObject({ status: 'idle', runs: 0, transcriptLength: 0 });
    await expectSound(world, session);
  });

  test.each([
    ['a bare string', 'Hello'],
    ['{"text"}', { text: 'Hello' }],
    ['a full message', { role: 'user', content: 'Hello' }],
    ['a message of blocks', { role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  ])('a signal takes %s', async (_, argument) => {
    await using world = await createAgentWorld({ script: [reply.text('Hi.')] });
    const session = await sessionOf(world);
    await world.client.temporal.workflow.getHandle(session.workflowId).signal('prompt', argument);
    await untilIdle(session, 1);
    expect(await spoken(session)).toEqual(['user: Hello', 'assistant: Hi.']);
    await expectSound(world, session);
  });
});

describe('workflow input', () => {
  test.each([
    ['agent', { agent: 'nobody' }],
    ['model', { model: 'other' }],
    ['tools', { tools: ['bash', 'nonesuch'] }],
    ['workspace', { workspace: 'else/where' }],
    ['systemPrompt', { agent: 'fixed', systemPrompt: 'Mine.' }],
    ['mcpServers', { mcpServers: ['weather'] }],
  ])(
    '%s: what the worker does not offer is an InvalidInput that names the field',
    async (field, input) => {
      await using world = await createAgentWorld({
        config: {
          agents: {
            default: { models: ['default'] },
            fixed: { systemPrompt: 'Fixed.', allowSystemPrompt: false },
          },
        },
        models: (scripted) => ({ default: scripted, other: { ...scripted, model: 'larger' } }),
      });
      const run = await world.client.start({ prompt: 'Hi', ...input });
      await expect(run.result()).rejects.toMatchObject({
        kind: 'input',
        type: 'InvalidInput',
        message: expect.stringContaining(field) as unknown,
      });
      expect(world.model.requests).toHaveLength(0);
      const session = await sessionOf(world, { prompt: 'Hi', ...input });
      expect((await untilIdle(session, 1)).lastError).toContain(field);
    },
  );

  test('choices of model, thinking level and tools, and a system prompt, reach the request', async () => {
    await using world = await createAgentWorld({
      script: [reply.text('Hi.')],
      models: (scripted) => ({ default: scripted, other: { ...scripted, model: 'larger' } }),
    });
    const run = await world.client.start({
      prompt: 'Hello',
      model: 'other',
      thinkingLevel: 'high',
      tools: ['read'],
      systemPrompt: 'You are mine.',
    });
    await run.result();
    const { body } = await world.model.request(0);
    expect(body).toMatchObject({ model: 'larger', reasoning_effort: 'high' });
    expect(body.messages[0]).toMatchObject({ role: 'system', content: 'You are mine.' });
    expect(body.tools).toMatchObject([{ function: { name: 'read' } }]);
    expect((await run.state()).model).toBe('larger');
    await expectSound(world, run);
  });

  test('a call of a tool that the input left out is an unknown tool, and is not executed', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'bash', arguments: { command: 'touch made' } }]),
        reply.text('Well.'),
      ],
    });
    const run = await world.client.start({ prompt: 'Hello', tools: ['read'] });
    await run.result();
    expect((await spoken(run))[2]).toMatch(/^toolResult: .*bash.*read/);
    await expectSound(world, run, { executed: [] });
  });
});
