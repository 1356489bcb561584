// The worker is killed around a model call. Each time another worker finishes the run.

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { chunk, reply, step } from '../../src/testing/scripted-model.js';
import { eventsOf, messagesOf, violationsOf } from '../support/agent-world.js';
import { createKillWorld, rolesOf } from '../support/worker-process-world.js';
import type { KillWorld } from '../support/worker-process-world.js';

/** From a kill to the next model request, by phase: told at the end, never asserted. */
const times: string[] = [];

let world: KillWorld;
beforeAll(async () => {
  world = await createKillWorld();
  await world.startWorker();
});
afterEach(() => world.reset());
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  console.log(`kill → next model request: ${times.join(', ')}`);
});

async function takeOverUntilRequest(phase: string) {
  const request = world.nextRequest();
  const killedAt = await world.takeOver();
  const next = await request;
  times.push(`${phase} ${Math.round(next.at - killedAt)} ms`);
  return next;
}

describe('a worker killed', () => {
  test('while it resolves the agent: the run begins on another', async () => {
    world.model.add(reply.text('Begun.'));
    world.gates.close('resolve');
    const run = await world.client.start('Go');
    await world.reached('resolve');
    await world.killWorker();
    world.gates.open('resolve');
    await world.startWorker();
    expect((await run.result()).response?.content).toBe('Begun.');
    expect(await rolesOf(run)).toBe('user assistant');
    expect(await violationsOf(world, run, { inputs: [{ message: 'Go' }] })).toEqual([]);
  });

  test('after it sent a model request and before a byte came: the same request is sent again', async () => {
    world.model.add(reply.hang(), reply.text('Here.'));
    const request = world.nextRequest();
    const run = await world.client.start('Go');
    const first = await request;
    const again = await takeOverUntilRequest('no byte yet');
    expect(again.body).toEqual(first.body);
    expect((await run.result()).response?.content).toBe('Here.');
    expect(await violationsOf(world, run, { inputs: [{ message: 'Go' }] })).toEqual([]);
  });

  test('in mid-stream: what had arrived is in no message, the answer comes from another attempt', async () => {
    world.model.add(reply.raw([chunk.text('Half of '), step.hang]), reply.text('A whole answer.'));
    const run = await world.client.start('Go');
    await vi.waitFor(
      async () => expect(JSON.stringify(await pendingViews(run))).toContain('Half'),
      {
        timeout: 20_000,
      },
    );
    await takeOverUntilRequest('mid-stream');
    expect((await run.result()).response?.content).toBe('A whole answer.');
    const messages = await messagesOf(run);
    expect(messages).toHaveLength(2);
    expect(JSON.stringify(messages)).not.toContain('Half');
    expect(messages[1]).toMatchObject({ role: 'assistant', stopReason: 'stop', attempts: 2 });
    expect(await violationsOf(world, run, { inputs: [{ message: 'Go' }] })).toEqual([]);
  });

  test('in a retry back-off: the next attempt is made elsewhere, after the delay', async () => {
    world.model.add(
      reply.status(503, 'Busy', { 'retry-after': '4' }),
      reply.text('After the delay.'),
    );
    const request = world.nextRequest();
    const run = await world.client.start('Go');
    const first = await request;
    await vi.waitFor(
      async () => expect(JSON.stringify(await pendingViews(run))).toContain('retry'),
      {
        timeout: 20_000,
        interval: 20,
      },
    );
    const again = world.nextRequest();
    await world.killWorker();
    await world.startWorker();
    // The provider asked for four seconds: no worker's death makes them shorter.
    expect((await again).at - first.at).toBeGreaterThan(3_900);
    expect((await run.result()).response?.content).toBe('After the delay.');
    expect(await violationsOf(world, run, { inputs: [{ message: 'Go' }] })).toEqual([]);
  });

  test('between provider failures: five before and one after it are six, and final', async () => {
    const busy = reply.status(503, 'Busy', { 'retry-after-ms': '50' });
    world.model.add(busy, busy, busy, busy, busy, reply.hang(), busy);
    const sixth = world.model.request(world.model.requests.length + 5);
    const run = await world.client.start({ prompt: 'Go', lifetime: 'session' });
    await sixth;
    await takeOverUntilRequest('sixth attempt');
    await vi.waitFor(async () => expect((await run.state()).status).toBe('idle'), 20_000);
    expect((await run.state()).lastError).toContain('503');
    expect(await rolesOf(run)).toBe('user assistant');
    expect(await violationsOf(world, run, { inputs: [{ message: 'Go' }] })).toEqual([]);
    await run.close();
  });

  test('while its session is idle: a prompt finds the whole transcript elsewhere', async () => {
    world.model.add(reply.text('First.'), reply.text('Second.'));
    const session = await world.client.start({ prompt: 'One', lifetime: 'session' });
    await vi.waitFor(async () => expect((await session.state()).status).toBe('idle'), 20_000);
    const killedAt = await world.takeOver();
    const request = world.nextRequest();
    await session.prompt('Two');
    const { at, body } = await request;
    times.push(`idle ${Math.round(at - killedAt)} ms`);
    expect(body.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    await vi.waitFor(
      async () => expect((await session.response())?.content).toBe('Second.'),
      20_000,
    );
    await session.close();
    await session.result();
    const inputs = [{ message: 'One' }, { message: 'Two' }];
    expect(await violationsOf(world, session, { inputs })).toEqual([]);
  });

  test('right after agent_end: the run is complete, and told in full by another worker', async () => {
    world.model.add(reply.text('All of it.'));
    const run = await world.client.start('Go');
    for await (const event of run.events()) if (event.type === 'agent_end') break;
    await world.takeOver();
    expect((await run.result()).response?.content).toBe('All of it.');
    expect((await eventsOf(run)).at(-1)?.type).toBe('agent_end');
    expect((await messagesOf(run))[1]).toMatchObject({ content: [{ text: 'All of it.' }] });
    expect(await violationsOf(world, run, { inputs: [{ message: 'Go' }] })).toEqual([]);
  });
});

/** What the pending activities show. */
async function pendingViews({ workflowId }: { readonly workflowId: string }) {
  const { raw } = await world.client.temporal.workflow.getHandle(workflowId).describe();
  return (raw.pendingActivities ?? []).map(({ heartbeatDetails }) =>
    heartbeatDetails?.payloads?.map(({ data }) => Buffer.from(data ?? []).toString('utf8')),
  );
}
