// Abort and cancellation in every phase of a run, through the whole stack: what was under way ends, nothing
// new starts, and what was queued is kept or reported.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { describe, expect, inject, test } from 'vitest';
import type { AgentHooks } from '../../src/activities/definitions.js';
import { defineTool } from '../../src/config/index.js';
import { chunk, reply, step } from '../../src/testing/scripted-model.js';
import { createAgentWorld, eventsOf, messagesOf } from '../support/agent-world.js';
import type { AgentWorld } from '../support/agent-world.js';
import { expectSound, gate, scheduled, sessionOf, untilIdle } from '../support/session-steps.js';

type Session = Awaited<ReturnType<typeof sessionOf>>;

/** Sends messages to both queues, aborts, waits for the end of the run, and checks what every abort must keep. */
async function abortAndCheck(world: AgentWorld, session: Session): Promise<void> {
  await session.steer('Steered', { id: 's' });
  await session.followUp('Followed', { id: 'f' });
  await expect.poll(async () => (await session.state()).queues.followUpLength).toBe(1);
  const before = await session.lastSequence();
  const activities = (await scheduled(world, session)).length;
  const requests = world.model.requests.length;
  expect(await session.submit('abort')).toEqual({ outcome: 'accepted' });
  const state = await untilIdle(session, 1);
  expect(state.queues).toMatchObject({ steering: [{ id: 's' }], followUp: [{ id: 'f' }] });
  expect(state).toMatchObject({ pendingToolCalls: [], pendingApprovals: [] });
  expect(state).not.toHaveProperty('lastError');
  expect((await eventsOf(session)).at(-1)).toMatchObject({
    type: 'agent_end',
    stopReason: 'aborted',
  });
  expect((await scheduled(world, session)).length).toBe(activities);
  expect(world.model.requests.length).toBe(requests);
  await expectSound(world, session, {
    abortedAfter: [before],
    inputs: [
      { id: 's', message: 'Steered' },
      { id: 'f', message: 'Followed' },
    ],
  });
}

/** The session is usable after the abort: what was queued is delivered by the next run. */
async function expectUsable(world: AgentWorld, session: Session): Promise<void> {
  world.model.add(reply.text('Back.'), reply.text('Still here.'));
  await session.prompt('Go on');
  await untilIdle(session, 2);
  expect((await session.response())?.content).toBe('Still here.');
  const sent = world.model.requests.at(-1)?.body.messages ?? [];
  expect(JSON.stringify(sent)).toMatch(/Go on.*Steered.*Back\..*Followed/);
  await expectSound(world, session);
}

const work = (execute: (signal: AbortSignal) => Promise<string>) =>
  defineTool({
    name: 'work',
    description: 'Works.',
    parameters: { type: 'object', properties: {} },
    execute: (_, { signal }) => execute(signal),
  });

const calls = (count: number) =>
  reply.toolCalls(Array.from({ length: count }, () => ({ name: 'work', arguments: {} })));

describe('abort', () => {
  test('of a model call in flight closes its connection and keeps what had arrived', async () => {
    await using world = await createAgentWorld({
      script: [reply.raw([chunk.text('Partial ans'), step.hang])],
    });
    const session = await sessionOf(world, { prompt: 'Think' });
    const request = await world.model.request(0);
    await abortAndCheck(world, session);
    expect(await request.ended).toBe('left');
    expect((await messagesOf(session)).at(-1)).toMatchObject({
      role: 'assistant',
      stopReason: 'aborted',
    });
    await expectUsable(world, session);
    // The aborted answer stays in the transcript and is left out of what later calls send.
    expect(JSON.stringify(world.model.requests.at(-1)?.body.messages)).not.toContain('Partial');
  });

  test('L12: of an endless answer ends it, its text kept and its calls not executed', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.raw([
          chunk.toolCalls({
            index: 0,
            id: 'c1',
            type: 'function',
            function: { name: 'bash', arguments: '{"command":"touch made"}' },
          }),
          step.repeat(chunk.text('more '), 10),
        ]),
      ],
    });
    const session = await sessionOf(world, { prompt: 'Think' });
    const request = await world.model.request(0);
    const followed = session.events()[Symbol.asyncIterator]();
    for (;;) {
      const { value } = await followed.next();
      if (JSON.stringify(value).includes('more more')) break;
    }
    await followed.return?.();
    await abortAndCheck(world, session);
    expect(await request.ended).toBe('left');
    const last = (await messagesOf(session)).at(-1);
    expect(last).toMatchObject({ stopReason: 'aborted' });
    expect(JSON.stringify(last)).toContain('more more');
    expect(await readdir(world.workspace)).toEqual([]);
    await expectUsable(world, session);
  });

  test('L36: while the key is looked up is an abort and no error; nothing had arrived', async () => {
    const asked = gate();
    const hooks: AgentHooks = {
      getApiKey: () => {
        asked.open();
        return world.model.requests.length > 0 || released ? 'sk-x' : new Promise(() => {});
      },
    };
    let released = false;
    await using world = await createAgentWorld({ config: { agents: { default: { hooks } } } });
    const session = await sessionOf(world, { prompt: 'Think' });
    await asked.passed;
    await abortAndCheck(world, session);
    expect(world.model.requests).toHaveLength(0);
    expect((await messagesOf(session)).slice(1)).toMatchObject([
      { role: 'assistant', content: [], stopReason: 'aborted' },
    ]);
    released = true;
    await expectUsable(world, session);
  });

  test('L18: in a retry back-off it works at once, and in the attempt after it too', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.status(503, 'Busy', { 'retry-after': '200' }),
        reply.status(503, 'Busy', { 'retry-after-ms': '1' }),
        reply.hang(),
      ],
    });
    const session = await sessionOf(world, { prompt: 'Think' });
    await world.model.request(0);
    const handle = world.client.temporal.workflow.getHandle(session.workflowId);
    await expect
      .poll(async () => {
        const { raw } = await handle.describe();
        return raw.pendingActivities?.map(({ attempt }) => attempt);
      })
      .toEqual([2]);
    await abortAndCheck(world, session);
    // No call was in flight: no message is invented.
    expect((await messagesOf(session)).map(({ role }) => role)).toEqual(['user']);

    await session.prompt('Again');
    const request = await world.model.request(2);
    await session.abort();
    await untilIdle(session, 2);
    expect(await request.ended).toBe('left');
    await expectSound(world, session);
  });

  test('in an approval wait answers the waiting calls as aborted', async () => {
    await using world = await createAgentWorld({
      script: [calls(2)],
      config: {
        agents: { default: { approval: { work: 'ask' } } },
        tools: [work(() => Promise.resolve('done'))],
      },
    });
    const session = await sessionOf(world, { prompt: 'Work' });
    await expect.poll(async () => (await session.state()).status).toBe('waiting_for_approval');
    await abortAndCheck(world, session);
    const results = (await messagesOf(session)).slice(2);
    expect(results).toMatchObject([{ isError: true }, { isError: true }]);
    expect(JSON.stringify(results)).toContain('Aborted. This call was not executed.');
    expect(await session.submit('approve')).toMatchObject({ outcome: 'rejected' });
    await expectUsable(world, session);
  });

  test('L3: in beforeToolCall answers every call as aborted; none is executed and no further hook runs', async () => {
    const asked = gate();
    const hooked: string[] = [];
    const executed: string[] = [];
    await using world = await createAgentWorld({
      script: [calls(3)],
      config: {
        agents: {
          default: {
            hooks: {
              beforeToolCall: async ({ toolCall }) => {
                hooked.push(toolCall.id);
                if (hooked.length < 2) return undefined;
                asked.open();
                return new Promise(() => {});
              },
            },
          },
        },
        tools: [
          work(() => {
            executed.push('x');
            return Promise.resolve('done');
          }),
        ],
      },
    });
    const session = await sessionOf(world, { prompt: 'Work' });
    await asked.passed;
    await abortAndCheck(world, session);
    expect(executed).toEqual([]);
    expect(hooked).toHaveLength(2);
    expect((await messagesOf(session)).slice(2)).toMatchObject(
      Array.from({ length: 3 }, () => ({ role: 'toolResult', isError: true })),
    );
    await expectSound(world, session, { executed: [] });
  });

  test('L2: in the first of three sequential bash calls kills its process; every call has its result', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([
          { name: 'bash', arguments: { command: 'echo $$ > pid; sleep 1000' } },
          { name: 'bash', arguments: { command: 'touch second' } },
          { name: 'bash', arguments: { command: 'touch third' } },
        ]),
      ],
    });
    const session = await sessionOf(world, { prompt: 'Work', toolExecution: 'sequential' });
    const pidFile = join(world.workspace, 'pid');
    await expect
      .poll(() => readFile(pidFile, 'utf8').catch(() => ''), { timeout: 20_000 })
      .toMatch(/\d+\n/);
    const pid = Number(await readFile(pidFile, 'utf8'));
    expect(isAlive(pid)).toBe(true);
    await abortAndCheck(world, session);
    expect(isAlive(pid)).toBe(false);
    const results = (await messagesOf(session)).slice(2);
    expect(results).toMatchObject([
      { isError: true, toolCallId: 'call_1' },
      { isError: true, toolCallId: 'call_2' },
      { isError: true, toolCallId: 'call_3' },
    ]);
    expect(await readdir(world.workspace)).toEqual(['pid']);
    await expectUsable(world, session);
  });

  test('while tools run: each gets the signal, and what they answer is recorded', async () => {
    const running = gate();
    let count = 0;
    await using world = await createAgentWorld({
      script: [calls(2)],
      config: {
        agents: { default: {} },
        tools: [
          work((signal) => {
            count += 1;
            if (count === 2) running.open();
            const mine = count;
            return new Promise((resolve) => {
              signal.addEventListener('abort', () => resolve(`stopped ${mine} cleanly`));
            });
          }),
        ],
      },
    });
    const session = await sessionOf(world, { prompt: 'Work' });
    await running.passed;
    await abortAndCheck(world, session);
    expect((await messagesOf(session)).slice(2)).toMatchObject([
      { content: [{ text: 'stopped 1 cleanly' }], isError: false },
      { content: [{ text: 'stopped 2 cleanly' }], isError: false },
    ]);
    await expectUsable(world, session);
  });

  test('L12: a tool that ignores the abort is waited for, within a bound', async () => {
    const running = gate();
    await using world = await createAgentWorld({
      script: [calls(1)],
      config: {
        agents: { default: {} },
        tools: [
          work(() => {
            running.open();
            return new Promise(() => {});
          }),
        ],
      },
    });
    const session = await sessionOf(world, { prompt: 'Work' });
    await running.passed;
    await abortAndCheck(world, session);
    expect((await messagesOf(session)).at(-1)).toMatchObject({
      role: 'toolResult',
      isError: true,
      content: [{ text: 'aborted, may still be running' }],
    });
  });

  test('in afterToolCall, which may redact: the result it has not passed is withheld', async () => {
    const asked = gate();
    await using world = await createAgentWorld({
      script: [calls(1)],
      config: {
        agents: {
          default: {
            hooks: {
              afterToolCall: () => {
                asked.open();
                return new Promise(() => {});
              },
            },
          },
        },
        tools: [work(() => Promise.resolve('very private'))],
      },
    });
    const session = await sessionOf(world, { prompt: 'Work' });
    await asked.passed;
    await abortAndCheck(world, session);
    const result = (await messagesOf(session)).at(-1);
    expect(result).toMatchObject({ role: 'toolResult', isError: true });
    expect(JSON.stringify(result)).toContain('Aborted.');
    expect(JSON.stringify(await eventsOf(session))).not.toContain('very private');
  });

  test('while a tool runs that afterToolCall would review: the hook is not asked, the result is withheld', async () => {
    const running = gate();
    const reviewed: string[] = [];
    await using world = await createAgentWorld({
      script: [calls(1)],
      config: {
        agents: {
          default: { hooks: { afterToolCall: ({ toolCall }) => void reviewed.push(toolCall.id) } },
        },
        tools: [
          work((signal) => {
            running.open();
            return new Promise((resolve) => {
              signal.addEventListener('abort', () => resolve('very private'));
            });
          }),
        ],
      },
    });
    const session = await sessionOf(world, { prompt: 'Work' });
    await running.passed;
    await abortAndCheck(world, session);
    expect(reviewed).toEqual([]);
    const result = JSON.stringify((await messagesOf(session)).at(-1));
    expect(result).toContain('Aborted. This call was executed');
    expect(result).not.toContain('very private');
    expect(JSON.stringify(await eventsOf(session))).not.toContain('very private');
  });

  test.each(['prepareNextTurn', 'shouldStopAfterTurn'] as const)(
    'in %s no further turn begins',
    async (hook) => {
      const asked = gate();
      await using world = await createAgentWorld({
        script: [calls(1)],
        config: {
          agents: {
            default: {
              hooks: {
                [hook]: () => {
                  asked.open();
                  return new Promise(() => {});
                },
              },
            },
          },
          tools: [work(() => Promise.resolve('done'))],
        },
      });
      const session = await sessionOf(world, { prompt: 'Work' });
      await asked.passed;
      await abortAndCheck(world, session);
      expect((await messagesOf(session)).map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'toolResult',
      ]);
    },
  );

  test('before the run has begun: the prompt stays, the model is never asked', async () => {
    await using world = await createAgentWorld();
    const session = await sessionOf(world, { prompt: 'Think' });
    await session.abort();
    await untilIdle(session, 1);
    expect(world.model.requests).toHaveLength(0);
    expect((await eventsOf(session)).at(-1)).toMatchObject({ stopReason: 'aborted' });
    await expectSound(world, session, { inputs: [{ message: 'Think' }] });
  });

  test('of lifetime run completes with stopReason aborted and reports what was queued', async () => {
    await using world = await createAgentWorld({ script: [reply.hang()] });
    const run = await world.client.start('Think');
    await world.model.request(0);
    await run.steer('Steered', { id: 's' });
    await run.followUp('Followed', { id: 'f' });
    await run.abort('changed my mind');
    const undelivered = [
      { kind: 'steer', id: 's', preview: 'Steered' },
      { kind: 'followUp', id: 'f', preview: 'Followed' },
    ];
    expect(await run.result()).toMatchObject({ stopReason: 'aborted', undelivered });
    expect((await eventsOf(run)).at(-1)).toMatchObject({ type: 'agent_end', undelivered });
    await expectSound(world, run, {
      inputs: [
        { message: 'Think' },
        { id: 's', message: 'Steered' },
        { id: 'f', message: 'Followed' },
      ],
    });
  });
});

describe('an abort among other inputs', () => {
  test('while nobody resolves the agent: the prompt stays, nothing else happens', async () => {
    await using world = await createAgentWorld();
    await world.stopWorkers();
    const worker = await Worker.create({
      connection: world.connection,
      taskQueue: world.taskQueue,
      workflowBundle: { codePath: inject('bundlePath') },
    });
    const ended = worker.run();
    const session = await sessionOf(world, { prompt: 'Think' });
    await expect.poll(async () => (await scheduled(world, session)).length).toBe(1);
    expect((await session.state()).status).toBe('starting');
    await abortAndCheck(world, session);
    expect((await messagesOf(session)).map(({ role }) => role)).toEqual(['user']);
    worker.shutdown();
    await ended;
    await world.addWorker();
    await expectUsable(world, session);
  });

  test('L4: in the first of three confirmations the others are not asked for', async () => {
    await using world = await createAgentWorld({
      script: [calls(3)],
      config: {
        agents: { default: { approval: { work: 'ask' } } },
        tools: [work(() => Promise.resolve('done'))],
      },
    });
    const session = await sessionOf(world, { prompt: 'Work', toolExecution: 'sequential' });
    await expect.poll(async () => (await session.state()).status).toBe('waiting_for_approval');
    await abortAndCheck(world, session);
    const asked = (await eventsOf(session)).filter(({ type }) => type === 'approval_requested');
    expect(asked).toHaveLength(1);
    expect((await messagesOf(session)).slice(2)).toHaveLength(3);
    await expectSound(world, session, { executed: [] });
  });

  test('twice, then cancel, while a tool takes its time to stop: one result, closed as Canceled', async () => {
    const running = gate();
    const stopping = gate();
    await using world = await createAgentWorld({
      script: [calls(1)],
      config: {
        agents: { default: {} },
        tools: [
          work(async () => {
            running.open();
            await stopping.passed;
            return 'stopped late';
          }),
        ],
      },
    });
    const session = await sessionOf(world, { prompt: 'Work' });
    await running.passed;
    await session.abort();
    await session.abort();
    expect(await session.submit('steer', 'After the abort', { id: 's' })).toEqual({
      outcome: 'queued',
    });
    await session.cancel();
    stopping.open();
    await expect(session.result()).rejects.toMatchObject({ kind: 'canceled' });
    expect((await messagesOf(session)).slice(2)).toMatchObject([
      { content: [{ text: 'stopped late' }] },
    ]);
    expect((await session.state()).undelivered).toMatchObject([{ id: 's' }]);
    await expectSound(world, session, { inputs: [{ id: 's', message: 'After the abort' }] });
  });

  test('of a closing session ends it at once, with what was queued reported', async () => {
    await using world = await createAgentWorld({ script: [reply.hang()] });
    const session = await sessionOf(world, { prompt: 'Think' });
    await world.model.request(0);
    await session.steer('Steered', { id: 's' });
    await session.close();
    await session.abort();
    expect(await session.result()).toMatchObject({ runs: 1, undelivered: [{ id: 's' }] });
    await expectSound(world, session, { inputs: [{ id: 's', message: 'Steered' }] });
  });
});

describe('cancelling the workflow', () => {
  test('together with a prompt that no run has taken: the prompt is reported as undelivered', async () => {
    await using world = await createAgentWorld();
    const session = await sessionOf(world);
    await untilIdle(session, 0);
    await world.stopWorkers();
    await session.prompt('Never begun', { id: 'p' });
    await session.cancel();
    await world.addWorker();
    await expect(session.result()).rejects.toMatchObject({ kind: 'canceled' });
    expect((await session.state()).undelivered).toMatchObject([
      { kind: 'prompt', preview: 'Never begun' },
    ]);
    expect(world.model.requests).toHaveLength(0);
    await expectSound(world, session, { inputs: [{ id: 'p', message: 'Never begun' }] });
  });

  test('of a session waits for no run that has ended already', async () => {
    await using world = await createAgentWorld({
      script: [reply.text('One.'), reply.text('Two.')],
    });
    const session = await sessionOf(world, { prompt: 'First' });
    await untilIdle(session, 1);
    await session.prompt('Second');
    await untilIdle(session, 2);
    await session.cancel();
    await expect(session.result()).rejects.toMatchObject({ kind: 'canceled' });
    const handle = world.client.temporal.workflow.getHandle(session.workflowId);
    const { events } = await handle.fetchHistory();
    expect(events?.some((event) => event.timerStartedEventAttributes != null)).toBe(false);
    await expectSound(world, session);
  });

  test.each(['run', 'session'] as const)(
    'is abort: a %s ends Canceled, its model call closed, what was queued reported',
    async (lifetime) => {
      await using world = await createAgentWorld({
        script: [reply.raw([chunk.text('Partial'), step.hang])],
      });
      const run = await world.client.start({ prompt: 'Think', lifetime });
      const request = await world.model.request(0);
      await run.steer('Steered', { id: 's' });
      await expect.poll(async () => (await run.state()).queues.steeringLength).toBe(1);
      const before = await run.lastSequence();
      await run.cancel();
      await expect(run.result()).rejects.toMatchObject({ kind: 'canceled' });
      expect(await request.ended).toBe('left');
      const undelivered = [{ kind: 'steer', id: 's', preview: 'Steered' }];
      expect(await run.state()).toMatchObject({ status: 'closed', undelivered });
      const end = (await eventsOf(run)).find(({ type }) => type === 'agent_end');
      expect(end).toMatchObject({ stopReason: 'aborted', undelivered });
      expect((await messagesOf(run)).at(-1)).toMatchObject({ stopReason: 'aborted' });
      await expectSound(world, run, {
        abortedAfter: [before],
        inputs: [{ message: 'Think' }, { id: 's', message: 'Steered' }],
      });
    },
  );

  test('while a bash call runs kills its process and records its result', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([
          { name: 'bash', arguments: { command: 'echo early; echo $$ > pid; sleep 1000' } },
        ]),
      ],
    });
    const run = await world.client.start('Work');
    const pidFile = join(world.workspace, 'pid');
    await expect
      .poll(() => readFile(pidFile, 'utf8').catch(() => ''), { timeout: 20_000 })
      .toMatch(/\d+\n/);
    const pid = Number(await readFile(pidFile, 'utf8'));
    await run.cancel();
    await expect(run.result()).rejects.toMatchObject({ kind: 'canceled' });
    expect(isAlive(pid)).toBe(false);
    const result = (await messagesOf(run)).at(-1);
    expect(result).toMatchObject({ role: 'toolResult', isError: true });
    expect(JSON.stringify(result)).toContain('early');
    await expectSound(world, run);
  });

  test('while an approval is awaited answers it as aborted and closes', async () => {
    await using world = await createAgentWorld({
      script: [reply.toolCalls([{ name: 'bash', arguments: { command: 'touch made' } }])],
      config: { agents: { default: { approval: { bash: 'ask' } } } },
    });
    const run = await world.client.start('Work');
    await expect.poll(async () => (await run.state()).status).toBe('waiting_for_approval');
    const before = await run.lastSequence();
    await run.cancel();
    await expect(run.result()).rejects.toMatchObject({ kind: 'canceled' });
    expect(await readdir(world.workspace)).toEqual([]);
    await expectSound(world, run, { abortedAfter: [before], executed: [] });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
