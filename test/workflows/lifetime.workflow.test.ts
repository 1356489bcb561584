// Prompts, lifetimes and continuation, through the whole stack.

import { describe, expect, test } from 'vitest';
import { reply } from '../../src/testing/scripted-model.js';
import { createAgentWorld, eventsOf, messagesOf } from '../support/agent-world.js';
import {
  expectSound,
  gate,
  sessionOf,
  spoken,
  untilIdle,
  untilStatus,
} from '../support/session-steps.js';

const answers = (...texts: readonly string[]) => texts.map((text) => reply.text(text));
const image = { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' } as const;

describe('prompt', () => {
  test('a string, a message and a list of them are each in the transcript once, in order', async () => {
    await using world = await createAgentWorld({ script: answers('One.', 'Two.', 'Three.') });
    const prompts = [
      'Plain',
      { role: 'user', content: [{ type: 'text', text: 'Blocks' }, image] },
      [
        'First',
        { role: 'user', content: 'Second' },
        { role: 'custom', customType: 'note', content: 'Third' },
      ],
    ] as const;
    for (const prompt of prompts) await (await world.client.start({ prompt })).result();
    const seen = world.model.requests.map(({ body }) => body.messages.slice(1));
    expect(seen[0]).toMatchObject([{ role: 'user' }]);
    expect(JSON.stringify(seen[0])).toContain('Plain');
    expect(JSON.stringify(seen[1])).toContain('data:image/png;base64,aGVsbG8=');
    expect(seen[2]).toMatchObject([{ role: 'user' }, { role: 'user' }, { role: 'user' }]);
    expect(JSON.stringify(seen[2])).toMatch(/First.*Second.*Third/);
  });

  test('a bare string becomes a message with one text block', async () => {
    await using world = await createAgentWorld({ script: answers('Hi.') });
    const run = await world.client.start('Hello');
    await run.result();
    expect((await messagesOf(run))[0]).toMatchObject({
      role: 'user',
      content: [{ type: 'text', text: 'Hello' }],
      timestamp: expect.any(Number) as unknown,
    });
    await expectSound(world, run, { inputs: [{ message: 'Hello' }] });
  });

  test('the events of a list of prompts announce each message once, before the model is asked', async () => {
    await using world = await createAgentWorld({ script: answers('Done.') });
    const run = await world.client.start({ prompt: ['First', 'Second'] });
    expect((await run.result()).newMessages).toEqual({ from: 0, to: 3 });
    const announced = (await eventsOf(run)).flatMap((event) =>
      event.type === 'message_end' ? [event.message] : [],
    );
    expect(announced).toEqual([0, 1, 2]);
    await expectSound(world, run, { inputs: [{ message: 'First' }, { message: 'Second' }] });
  });

  test('messages without a prompt continue that transcript, with no events for what was there', async () => {
    await using world = await createAgentWorld({ script: answers('Four.') });
    const run = await world.client.start({
      messages: [
        { role: 'user', content: 'One?' },
        assistant('Two.'),
        { role: 'user', content: 'Three?' },
      ],
    });
    expect(await run.result()).toMatchObject({
      response: { content: 'Four.' },
      newMessages: { from: 3, to: 4 },
      usage: { input: 10, output: 5 },
    });
    expect(world.model.requests[0]?.body.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
    await expectSound(world, run, { carried: 3 });
  });

  test('messages whose tail is an answer, with nothing queued, are an InvalidInput', async () => {
    await using world = await createAgentWorld();
    const run = await world.client.start({
      messages: [{ role: 'user', content: 'Hi' }, assistant('Yes?')],
    });
    await expect(run.result()).rejects.toMatchObject({
      kind: 'input',
      message: expect.stringMatching(/^messages: nothing to continue/) as unknown,
    });
  });

  test('a prompt after messages joins them in one run', async () => {
    await using world = await createAgentWorld({ script: answers('Right.') });
    const run = await world.client.start({
      messages: [{ role: 'user', content: 'Hi' }, assistant('Yes?')],
      prompt: 'Go on',
    });
    expect((await run.result()).newMessages).toEqual({ from: 2, to: 4 });
    await expectSound(world, run, { carried: 2, inputs: [{ message: 'Go on' }] });
  });
});

describe('session', () => {
  test('without a prompt it starts idle, runs on a prompt and stays open', async () => {
    await using world = await createAgentWorld({ script: answers('One.', 'Two.') });
    const session = await sessionOf(world);
    const state = await untilIdle(session, 0);
    expect(state).toMatchObject({ turn: 0, transcriptLength: 0, lifetime: 'session' });
    expect(await eventsOf(session)).toEqual([]);
    await session.prompt('First');
    await untilIdle(session, 1);
    await session.prompt('Second');
    await untilIdle(session, 2);
    expect(await spoken(session)).toEqual([
      'user: First',
      'assistant: One.',
      'user: Second',
      'assistant: Two.',
    ]);
    await session.close();
    expect(await session.result()).toMatchObject({
      runs: 2,
      usage: { input: 20, output: 10 },
      undelivered: [],
    });
    await expectSound(world, session, { inputs: [{ message: 'First' }, { message: 'Second' }] });
  });

  test('close when idle completes it at once and says what was queued', async () => {
    await using world = await createAgentWorld();
    const session = await sessionOf(world);
    await session.steer('Never read', { id: 's' });
    await session.followUp('Nor this', { id: 'f' });
    await session.close();
    const undelivered = [
      { kind: 'steer', id: 's', preview: 'Never read' },
      { kind: 'followUp', id: 'f', preview: 'Nor this' },
    ];
    expect(await session.result()).toMatchObject({ runs: 0, undelivered });
    expect(await session.state()).toMatchObject({ status: 'closed', undelivered });
    expect((await eventsOf(session)).at(-1)).toMatchObject({ type: 'closed', undelivered });
    await expectSound(world, session, {
      inputs: [
        { id: 's', message: 'Never read' },
        { id: 'f', message: 'Nor this' },
      ],
    });
  });

  test('idleTimeout closes an idle session, and counts anew after each run', async () => {
    await using world = await createAgentWorld({ script: answers('Here.') });
    const session = await sessionOf(world, { prompt: 'Hello', idleTimeout: '2 seconds' });
    expect(await session.result()).toMatchObject({ runs: 1, undelivered: [] });
    expect((await eventsOf(session)).at(-1)).toMatchObject({ type: 'closed' });
    await expectSound(world, session);
  });

  test('the abort signal does nothing to an idle session, and does not stop the next run', async () => {
    await using world = await createAgentWorld({ script: answers('Fine.') });
    const session = await sessionOf(world);
    await untilIdle(session, 0);
    expect(await session.submit('abort')).toEqual({ outcome: 'accepted' });
    expect(await eventsOf(session)).toEqual([]);
    await session.prompt('Are you there?');
    await untilIdle(session, 1);
    expect((await session.response())?.content).toBe('Fine.');
    await expectSound(world, session);
  });

  test('cancelling an idle session closes it as Canceled; what was queued is in its state', async () => {
    await using world = await createAgentWorld();
    const session = await sessionOf(world);
    await session.steer('Never read', { id: 's' });
    await untilIdle(session, 0);
    await session.cancel();
    await expect(session.result()).rejects.toMatchObject({ kind: 'canceled' });
    const undelivered = [{ kind: 'steer', id: 's', preview: 'Never read' }];
    expect(await session.state()).toMatchObject({ status: 'closed', undelivered });
    await expectSound(world, session);
  });

  test('a prompt or continue while a run is active is rejected with a recorded reason', async () => {
    await using world = await createAgentWorld({ script: [reply.hang(), reply.text('x')] });
    const session = await sessionOf(world, { prompt: 'Think' });
    await world.model.request(0);
    for (const kind of ['prompt', 'continue'] as const) {
      const outcome = await session.submit(kind, kind === 'prompt' ? 'Me too' : undefined);
      expect(outcome).toMatchObject({
        outcome: 'rejected',
        reason: expect.stringContaining('An agent run is active') as unknown,
      });
    }
    const rejected = (await eventsOf(session)).filter(({ type }) => type === 'rejected');
    expect(rejected).toMatchObject([{ kind: 'prompt' }, { kind: 'continue' }]);
    await session.abort();
    await untilIdle(session, 1);
    expect(await spoken(session)).not.toContain('user: Me too');
    await expectSound(world, session);
  });

  test('L32: of two prompts sent at once one starts a run and the other is rejected', async () => {
    await using world = await createAgentWorld({ script: answers('One.') });
    const session = await sessionOf(world);
    const outcomes = await Promise.all([
      session.submit('prompt', 'A'),
      session.submit('prompt', 'B'),
    ]);
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['rejected', 'started']);
    await untilIdle(session, 1);
    expect(world.model.requests).toHaveLength(1);
    await expectSound(world, session);
  });

  test('lifetime run takes no prompt, continue or further run, and says why', async () => {
    await using world = await createAgentWorld({ script: [reply.hang()] });
    const run = await world.client.start('Think');
    await world.model.request(0);
    expect(await run.submit('prompt', 'Another')).toMatchObject({
      outcome: 'rejected',
      reason: expect.stringContaining('lifetime run') as unknown,
    });
    await run.abort();
    expect(await run.result()).toMatchObject({ stopReason: 'aborted' });
    await expectSound(world, run);
  });
});

describe('inputs that come with the start', () => {
  test('steering enters turn 1 of a run, a follow-up its end', async () => {
    await using world = await createAgentWorld({ script: answers('One.', 'Two.') });
    await world.stopWorkers();
    const run = await world.client.start('Begin');
    await run.followUp('And then');
    await run.steer('Mind this');
    await world.addWorker();
    await run.result();
    expect(await spoken(run)).toEqual([
      'user: Begin',
      'user: Mind this',
      'assistant: One.',
      'user: And then',
      'assistant: Two.',
    ]);
    await expectSound(world, run, {
      inputs: [{ message: 'Begin' }, { message: 'And then' }, { message: 'Mind this' }],
    });
  });

  test('a prompt sent with the start of a session that has one is rejected: it is busy from the first moment', async () => {
    await using world = await createAgentWorld({ script: answers('One.') });
    await world.stopWorkers();
    const session = await sessionOf(world, { prompt: 'Begin' });
    await session.prompt('Too soon', { id: 'x' });
    await world.addWorker();
    await untilIdle(session, 1);
    expect((await eventsOf(session))[0]).toMatchObject({ type: 'rejected', kind: 'prompt' });
    await expectSound(world, session, {
      inputs: [{ message: 'Begin' }, { id: 'x', message: 'Too soon' }],
    });
  });
});

describe('continue', () => {
  test('is rejected on an empty transcript', async () => {
    await using world = await createAgentWorld();
    const session = await sessionOf(world);
    expect(await session.submit('continue')).toMatchObject({
      outcome: 'rejected',
      reason: 'the transcript is empty',
    });
  });

  test.each([
    ['a user message', [{ role: 'user', content: 'Hello' }]],
    ['a custom message', [{ role: 'custom', customType: 'note', content: 'Hello' }]],
    [
      'a tool result',
      [
        { role: 'user', content: 'Hello' },
        {
          ...assistant(''),
          content: [{ type: 'toolCall', id: 'c1', name: 'read', arguments: { path: 'x' } }],
          stopReason: 'toolUse',
        },
        {
          role: 'toolResult',
          toolCallId: 'c1',
          toolName: 'read',
          content: [{ type: 'text', text: 'X' }],
          isError: false,
        },
      ],
    ],
  ] as const)('from %s it runs on plainly, steering polled first', async (_, messages) => {
    await using world = await createAgentWorld({ script: answers('On.') });
    const session = await sessionOf(world, { messages });
    await session.steer('Mind the gap');
    expect(await session.submit('continue')).toEqual({ outcome: 'started' });
    await untilIdle(session, 1);
    const said = await spoken(session);
    expect(said.slice(messages.length)).toEqual(['user: Mind the gap', 'assistant: On.']);
    expect(world.model.requests).toHaveLength(1);
    await expectSound(world, session, {
      carried: messages.length,
      inputs: [{ message: 'Mind the gap' }],
    });
  });

  const answered = [{ role: 'user', content: 'Hello' }, assistant('Yes?')] as const;

  test('from an answer: one steering batch is the prompt, and the first poll is skipped', async () => {
    await using world = await createAgentWorld({ script: answers('One.', 'Two.') });
    const session = await sessionOf(world, { messages: answered });
    await session.steer('A');
    await session.steer('B');
    await session.followUp('C');
    expect(await session.submit('continue')).toEqual({ outcome: 'started' });
    world.model.add(reply.text('Three.'));
    await untilIdle(session, 1);
    expect((await spoken(session)).slice(2)).toEqual([
      'user: A',
      'assistant: One.',
      'user: B',
      'assistant: Two.',
      'user: C',
      'assistant: Three.',
    ]);
    await expectSound(world, session, { carried: 2 });
  });

  test('from an answer without steering: one follow-up batch is the prompt', async () => {
    await using world = await createAgentWorld({ script: answers('One.', 'Two.') });
    const session = await sessionOf(world, { messages: answered, followUpMode: 'one-at-a-time' });
    await session.followUp('C');
    await session.followUp('D');
    await session.continue();
    await untilIdle(session, 1);
    expect((await spoken(session)).slice(2)).toEqual([
      'user: C',
      'assistant: One.',
      'user: D',
      'assistant: Two.',
    ]);
    await expectSound(world, session, { carried: 2 });
  });

  test('from an answer with nothing queued it is rejected', async () => {
    await using world = await createAgentWorld();
    const session = await sessionOf(world, { messages: answered });
    expect(await session.submit('continue')).toMatchObject({
      outcome: 'rejected',
      reason: 'the last message is an answer and nothing is queued',
    });
    await untilIdle(session, 0);
  });

  test('L14: after an errored run it leaves the errored message out of what the model is sent', async () => {
    await using world = await createAgentWorld({
      script: [reply.status(400, { error: { message: 'Bad schema' } }), reply.text('Better.')],
    });
    const session = await sessionOf(world, { prompt: 'Hello' });
    expect((await untilIdle(session, 1)).lastError).toContain('Bad schema');
    await session.continue();
    await untilIdle(session, 2);
    expect(world.model.requests[1]?.body.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
    ]);
    expect((await messagesOf(session)).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'assistant',
    ]);
    await expectSound(world, session);
  });
});

describe('close', () => {
  test('while a run is active: steering is still delivered, follow-ups are not taken any more', async () => {
    const answer = gate();
    await using world = await createAgentWorld({
      script: [
        async () => {
          await answer.passed;
          return reply.text('First.');
        },
        reply.text('Steered.'),
      ],
    });
    const session = await sessionOf(world, { prompt: 'Think' });
    await world.model.request(0);
    await session.followUp('Later', { id: 'f' });
    await session.steer('Now', { id: 's' });
    expect(await session.submit('close')).toEqual({ outcome: 'accepted' });
    expect(await session.submit('prompt', 'Again')).toMatchObject({ outcome: 'rejected' });
    answer.open();
    expect(await session.result()).toMatchObject({
      runs: 1,
      undelivered: [{ kind: 'followUp', id: 'f', preview: 'Later' }],
    });
    expect(await spoken(session)).toEqual([
      'user: Think',
      'assistant: First.',
      'user: Now',
      'assistant: Steered.',
    ]);
    await expectSound(world, session, {
      inputs: [{ message: 'Think' }, { id: 'f', message: 'Later' }, { id: 's', message: 'Now' }],
    });
  });

  test('a prompt that came just before close still runs', async () => {
    await using world = await createAgentWorld({ script: answers('Just in time.') });
    const session = await sessionOf(world);
    await untilStatus(session, 'idle');
    await session.prompt('Quick');
    await session.close();
    expect(await session.result()).toMatchObject({ runs: 1, undelivered: [] });
    expect(await spoken(session)).toEqual(['user: Quick', 'assistant: Just in time.']);
    await expectSound(world, session, { inputs: [{ message: 'Quick' }] });
  });
});

function assistant(text: string) {
  return {
    role: 'assistant',
    content: [{ type: 'text', text }],
    provider: 'elsewhere',
    model: 'other',
    stopReason: 'stop',
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 2 },
  } as const;
}
