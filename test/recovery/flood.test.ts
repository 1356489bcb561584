// Floods of signals: large ones, and thousands of small ones, with and without a worker. Each is in the
// queue or the transcript exactly once, and the session goes on. These tests need the machine to
// themselves: a Workflow Task that takes ten seconds by the clock is given to another worker.

import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AgentRun } from '../../src/client/index.js';
import { textOf } from '../../src/protocol/messages.js';
import { reply } from '../../src/testing/scripted-model.js';
import { eventsOf, messagesOf, violationsOf } from '../support/agent-world.js';
import { createKillWorld } from '../support/worker-process-world.js';
import type { KillWorld } from '../support/worker-process-world.js';

type Session = Pick<AgentRun, 'steer' | 'state' | 'messages'>;

const patience = { timeout: 120_000, interval: 250 };

let world: KillWorld;
beforeEach(async () => {
  world = await createKillWorld({ script: () => reply.text('Understood.') });
});
afterEach(() => world[Symbol.asyncDispose]());

const notes = (count: number) => Array.from({ length: count }, (_, index) => `Note ${index}`);

async function steerAll(session: Session, texts: readonly string[]): Promise<void> {
  const waiting = texts.values();
  const lane = async () => {
    for (const text of waiting) await session.steer(text);
  };
  await Promise.all(Array.from({ length: 50 }, lane));
}

async function untilIdleWithoutQueue(session: Session): Promise<void> {
  await vi.waitFor(async () => {
    const { status, queues } = await session.state();
    expect({ status, queued: queues.steeringLength }).toEqual({ status: 'idle', queued: 0 });
  }, patience);
}

async function userTexts(session: Session): Promise<readonly string[]> {
  return (await messagesOf(session)).flatMap((message) =>
    message.role === 'user' ? [textOf(message.content)] : [],
  );
}

/** What the last model request says in people's name. */
const sentTexts = () =>
  (world.model.requests.at(-1)?.body.messages ?? []).flatMap(({ role, content }) =>
    role === 'user' ? [textOf(content as Parameters<typeof textOf>[0])] : [],
  );

/** Scheduled and started Workflow Tasks, of the end of a history. */
async function taskEvents(handle: Pick<WorkflowHandle, 'fetchHistory'>) {
  const { events } = await handle.fetchHistory();
  return (events ?? []).filter(
    (event) =>
      event.workflowTaskScheduledEventAttributes != null ||
      event.workflowTaskStartedEventAttributes != null,
  );
}

describe('a flood of signals', () => {
  test('ten texts of 1 MB are in the transcript, each once, and the model sees them', async () => {
    await world.startWorker();
    const session = await world.client.start({ lifetime: 'session' });
    const texts = Array.from({ length: 10 }, (_, index) => String(index).repeat(1_000_000));
    for (const text of texts) await session.steer(text);
    await session.prompt('Read them.');
    await untilIdleWithoutQueue(session);
    expect(sentTexts()).toEqual(['Read them.', ...texts]);
    expect(await violationsOf(world, session)).toEqual([]);
  }, 300_000);

  test('thirty texts of 1 MB, sent without a worker and taken all at once, do not stop the session', async () => {
    const session = await world.client.start({ lifetime: 'session', steeringMode: 'all' });
    const texts = Array.from({ length: 30 }, (_, index) =>
      `${index} `.repeat(1_000_000 / `${index} `.length),
    );
    for (const text of texts) await session.steer(text);
    await session.prompt('Read them.');
    await world.startWorker();
    await untilIdleWithoutQueue(session);
    expect(sentTexts()).toEqual(['Read them.', ...texts]);
    expect(await violationsOf(world, session)).toEqual([]);
  }, 300_000);

  test('5,000 small signals are all queued, and a run goes on beside them', async () => {
    await world.startWorker();
    const session = await world.client.start({ lifetime: 'session', steeringMode: 'all' });
    await steerAll(session, notes(5_000));
    await vi.waitFor(async () => {
      expect((await session.state()).queues.steeringLength).toBe(5_000);
    }, patience);
    await session.prompt('Still there?');
    await untilIdleWithoutQueue(session);
    const texts = await userTexts(session);
    expect(texts[0]).toBe('Still there?');
    expect(texts.slice(1).toSorted()).toEqual(notes(5_000).toSorted());
    expect(await violationsOf(world, session)).toEqual([]);
  }, 300_000);

  test('10,000 small signals without a worker: the server refuses the next, the first worker takes them all, even if it is suspended', async () => {
    const session = await world.client.start({ lifetime: 'session', steeringMode: 'all' });
    await session.prompt('Go');
    await steerAll(session, notes(9_999));
    await expect(session.steer('One too many')).rejects.toThrow(/limit/i);
    const { pid } = await world.startWorker();
    // The process stands still in the middle of them, longer than the SDK lets workflow code run by default.
    const handle = world.client.temporal.workflow.getHandle(session.workflowId);
    await vi.waitFor(async () => expect((await taskEvents(handle)).length).toBe(2), {
      timeout: 20_000,
      interval: 20,
    });
    await sleep(300);
    process.kill(pid, 'SIGSTOP');
    await sleep(7_000);
    process.kill(pid, 'SIGCONT');
    await untilIdleWithoutQueue(session);
    const texts = await userTexts(session);
    expect(texts).toHaveLength(10_000);
    expect(texts.toSorted()).toEqual(['Go', ...notes(9_999)].toSorted());
    // The log keeps the last 20,000 events: the beginning of the run is not among them.
    const violations = await violationsOf(world, session, {
      events: await eventsOf(session),
      messages: await messagesOf(session),
    });
    expect(violations.filter((text) => !text.endsWith('no run is active'))).toEqual([]);
    // What the server takes beyond its limit.
    await session.cancel();
    await expect(session.result()).rejects.toThrow(/cancel/i);
  }, 300_000);
});
