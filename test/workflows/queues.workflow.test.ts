// Steering and follow-ups through the whole stack: when they enter, how many at a time, and what became
// of each.

import { describe, expect, test } from 'vitest';
import { defineTool } from '../../src/config/index.js';
import { reply } from '../../src/testing/scripted-model.js';
import { createAgentWorld, eventsOf, messagesOf } from '../support/agent-world.js';
import { expectSound, gate, sessionOf, spoken, untilIdle } from '../support/session-steps.js';

const image = { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' } as const;

/** A tool that waits in its first call, and remembers what was executed. */
function waitingTool() {
  const started = gate();
  const release = gate();
  const executed: string[] = [];
  const tool = defineTool({
    name: 'work',
    description: 'Works.',
    parameters: { type: 'object', properties: { part: { type: 'string' } } },
    execute: async ({ part }, { toolCallId }) => {
      started.open();
      if (part === 'slow') await release.passed;
      executed.push(toolCallId);
      return `${part as string} done`;
    },
  });
  return { tool, started: started.passed, release: () => release.open(), executed };
}

describe('steering', () => {
  test('L1: steering during a batch waits for the whole batch and skips none of its calls', async () => {
    const { tool, started, release, executed } = waitingTool();
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([
          { name: 'work', arguments: { part: 'slow' } },
          { name: 'work', arguments: { part: 'quick' } },
        ]),
        reply.text('Steered.'),
      ],
      config: { agents: { default: {} }, tools: [tool] },
    });
    const run = await world.client.start({ prompt: 'Go', toolExecution: 'sequential' });
    await started;
    expect(await run.submit('steer', 'Also this', { id: 's' })).toEqual({ outcome: 'queued' });
    expect((await run.state()).queues.steering).toEqual([
      { kind: 'steer', id: 's', preview: 'Also this' },
    ]);
    release();
    await run.result();
    expect(await spoken(run)).toEqual([
      'user: Go',
      'assistant: ',
      'toolResult: slow done',
      'toolResult: quick done',
      'user: Also this',
      'assistant: Steered.',
    ]);
    expect((await eventsOf(run)).find(({ type }) => type === 'queued')).toMatchObject({
      kind: 'steer',
      id: 's',
      preview: 'Also this',
    });
    await expectSound(world, run, {
      executed,
      inputs: [{ message: 'Go' }, { id: 's', message: 'Also this' }],
    });
  });

  test('what was queued while idle follows the prompt in turn 1, before the first model call', async () => {
    await using world = await createAgentWorld({ script: [reply.text('Both.')] });
    const session = await sessionOf(world);
    await session.steer('Mind this');
    await session.prompt('Begin');
    await untilIdle(session, 1);
    expect(await spoken(session)).toEqual(['user: Begin', 'user: Mind this', 'assistant: Both.']);
    expect((await eventsOf(session)).filter(({ type }) => type === 'turn_start')).toHaveLength(1);
    await expectSound(world, session, {
      inputs: [{ message: 'Begin' }, { message: 'Mind this' }],
    });
  });

  test.each([
    ['one-at-a-time', ['user: A', 'assistant: 1', 'user: B', 'assistant: 2']],
    ['all', ['user: A', 'user: B', 'assistant: 1']],
  ] as const)('%s: how many messages pass before one model response', async (mode, rest) => {
    await using world = await createAgentWorld({
      script: ['1', '2'].slice(0, mode === 'all' ? 1 : 2).map((text) => reply.text(text)),
    });
    const session = await sessionOf(world, { steeringMode: mode });
    await session.steer('A');
    await session.steer('B');
    await session.prompt('Begin');
    await untilIdle(session, 1);
    expect(await spoken(session)).toEqual(['user: Begin', ...rest]);
    expect(world.model.remaining).toBe(0);
    await expectSound(world, session);
  });

  test('L27: a message that is an image alone is delivered, and an equal text is another message', async () => {
    await using world = await createAgentWorld({
      script: ['1', '2', '3'].map((t) => reply.text(t)),
    });
    const session = await sessionOf(world);
    await session.steer([image], { id: 'i' });
    await session.followUp('Same', { id: 'a' });
    await session.followUp('Same', { id: 'b' });
    expect((await session.state()).queues).toMatchObject({
      steering: [{ id: 'i', preview: '', images: 1 }],
      followUpLength: 2,
    });
    await session.prompt('Look');
    await untilIdle(session, 1);
    expect(JSON.stringify(world.model.requests[0]?.body.messages)).toContain('aGVsbG8=');
    expect((await spoken(session)).filter((line) => line === 'user: Same')).toHaveLength(2);
    await expectSound(world, session, {
      inputs: [
        { message: 'Look' },
        { id: 'i', message: { role: 'user', content: [image] } },
        { id: 'a', message: 'Same' },
        { id: 'b', message: 'Same' },
      ],
    });
  });

  test('a full message and a custom one can be steered with', async () => {
    await using world = await createAgentWorld({ script: [reply.text('1')] });
    const session = await sessionOf(world, { steeringMode: 'all' });
    await session.steer({ role: 'custom', customType: 'build', content: 'Build 7 failed' });
    await session.steer([{ type: 'text', text: 'See the log' }, image]);
    await session.prompt('Fix it');
    await untilIdle(session, 1);
    const [, custom, user] = await messagesOf(session);
    expect(custom).toMatchObject({
      role: 'custom',
      customType: 'build',
      content: 'Build 7 failed',
    });
    expect(user).toMatchObject({ role: 'user', content: [{ text: 'See the log' }, image] });
    await expectSound(world, session);
  });
});

describe('follow-ups', () => {
  test('what was queued while idle enters when the run would end', async () => {
    await using world = await createAgentWorld({ script: ['1', '2'].map((t) => reply.text(t)) });
    const session = await sessionOf(world);
    await session.followUp('And then');
    await session.prompt('Begin');
    await untilIdle(session, 1);
    expect(await spoken(session)).toEqual([
      'user: Begin',
      'assistant: 1',
      'user: And then',
      'assistant: 2',
    ]);
    await expectSound(world, session);
  });

  test.each([
    ['one-at-a-time', ['user: A', 'assistant: 2', 'user: B', 'assistant: 3']],
    ['all', ['user: A', 'user: B', 'assistant: 2']],
  ] as const)('%s: how many messages one poll takes', async (mode, rest) => {
    await using world = await createAgentWorld({
      script: ['1', '2', '3'].slice(0, mode === 'all' ? 2 : 3).map((text) => reply.text(text)),
    });
    const session = await sessionOf(world, { followUpMode: mode });
    await session.followUp('A');
    await session.followUp('B');
    await session.prompt('Begin');
    await untilIdle(session, 1);
    expect(await spoken(session)).toEqual(['user: Begin', 'assistant: 1', ...rest]);
    expect(world.model.remaining).toBe(0);
    await expectSound(world, session);
  });

  test('steering comes before follow-ups', async () => {
    await using world = await createAgentWorld({
      script: ['1', '2', '3'].map((t) => reply.text(t)),
    });
    const session = await sessionOf(world);
    await session.followUp('Last');
    await session.steer('First');
    await session.steer('Second');
    await session.prompt('Begin');
    await untilIdle(session, 1);
    expect(await spoken(session)).toEqual([
      'user: Begin',
      'user: First',
      'assistant: 1',
      'user: Second',
      'assistant: 2',
      'user: Last',
      'assistant: 3',
    ]);
    await expectSound(world, session);
  });

  test('L15: follow-ups sent while a run ends are delivered, or the sender learns that it has ended', async () => {
    await using world = await createAgentWorld({ script: () => reply.text('Answer.') });
    for (let round = 0; round < 5; round++) {
      const run = await world.client.start('Quick');
      const refused: string[] = [];
      const sent: { readonly id: string; readonly message: string }[] = [];
      for (let n = 0; n < 7 && refused.length === 0; n++) {
        const input = { id: `f${n}`, message: `More ${n}` };
        await run.followUp(input.message, { id: input.id }).then(
          () => sent.push(input),
          (error: Error) => refused.push(error.name),
        );
      }
      expect(refused.filter((name) => name !== 'SessionEnded')).toEqual([]);
      await run.result();
      await expectSound(world, run, { inputs: [{ message: 'Quick' }, ...sent] });
    }
  });

  test('a limit ends the run with what is queued still queued', async () => {
    await using world = await createAgentWorld({ script: [reply.text('1'), reply.text('2')] });
    const session = await sessionOf(world, { limits: { maxTurns: 1 } });
    await session.followUp('More');
    await session.prompt('Begin');
    expect((await untilIdle(session, 1)).queues.followUpLength).toBe(1);
    expect((await eventsOf(session)).slice(-2)).toMatchObject([
      { type: 'limit_reached', limit: 'maxTurns', value: 1 },
      { type: 'agent_end', stopReason: 'limit' },
    ]);
    await expectSound(world, session, { inputs: [{ message: 'Begin' }, { message: 'More' }] });
  });
});
