// Aborts that come when nobody is there to hear them: no worker, a dead one, a server that restarts.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { startDevServer } from '../../src/dev-server/index.js';
import { reply } from '../../src/testing/scripted-model.js';
import { gone, running, uniqueSleep } from '../activities/tools/processes.js';
import { eventsOf, violationsOf } from '../support/agent-world.js';
import { createKillWorld, resultsOf, rolesOf } from '../support/worker-process-world.js';
import type { KillWorld } from '../support/worker-process-world.js';

const inputs = [{ message: 'Go' }];
const bash = (command: string) => ({ name: 'bash', arguments: { command } });

let world: KillWorld;
beforeAll(async () => {
  world = await createKillWorld();
});
afterEach(() => world.reset());
afterAll(() => world[Symbol.asyncDispose]());

const statusOf = async ({ workflowId }: { readonly workflowId: string }) =>
  (await world.client.temporal.workflow.getHandle(workflowId).describe()).status.name;

describe('an abort', () => {
  test.each([
    ['abort', 'COMPLETED'],
    ['cancel', 'CANCELLED'],
  ] as const)(
    'by %s when the worker that ran the tool is dead: the call has one result, and no model call follows',
    async (how, status) => {
      const sleep = uniqueSleep();
      world.model.add(reply.toolCalls([bash(sleep), bash('echo quick')]));
      await world.startWorker();
      const run = await world.client.start('Go');
      await running(sleep);
      const requests = world.model.requests.length;
      const abortedAfter = [await run.lastSequence()];
      await world.killWorker();
      await run[how]();
      await world.startWorker();
      await run.result().catch(() => undefined);
      expect(await statusOf(run)).toBe(status);
      await gone(sleep);
      expect(world.model.requests).toHaveLength(requests);
      expect(await rolesOf(run)).toBe('user assistant toolResult toolResult');
      expect((await resultsOf(run))[0]).toMatchObject({ isError: true });
      expect(await violationsOf(world, run, { inputs, abortedAfter })).toEqual([]);
      await world.killWorker();
    },
  );

  test('by cancel when no worker ever ran: it closes as Canceled once one is there, and no model is called', async () => {
    const requests = world.model.requests.length;
    const run = await world.client.start('Go');
    await run.steer('Never mind', { id: 'steer' });
    await run.cancel();
    await world.startWorker();
    await expect(run.result()).rejects.toThrow(/cancel/i);
    expect(await statusOf(run)).toBe('CANCELLED');
    expect(world.model.requests).toHaveLength(requests);
    const { undelivered } = await run.state();
    expect(undelivered.map(({ preview }) => preview)).toEqual(['Never mind']);
    expect(
      await violationsOf(world, run, {
        inputs: [...inputs, { id: 'steer', message: 'Never mind' }],
        // After the steer was queued.
        abortedAfter: [1],
      }),
    ).toEqual([]);
    await world.killWorker();
  });

  test('by cancel of an idle session without a worker: it closes as Canceled once one is there', async () => {
    world.model.add(reply.text('First.'));
    await world.startWorker();
    const session = await world.client.start({ prompt: 'Go', lifetime: 'session' });
    for await (const event of session.events()) if (event.type === 'agent_end') break;
    await world.killWorker();
    await session.cancel();
    await world.startWorker();
    await expect(session.result()).rejects.toThrow(/cancel/i);
    expect(await statusOf(session)).toBe('CANCELLED');
    expect(await violationsOf(world, session, { inputs })).toEqual([]);
    await world.killWorker();
  });
});

describe('an abort around a restart of the server', () => {
  test('is refused while it is away; sent again it stops the run and the processes of a worker that stayed', async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'holdfast-server-'));
    const environment = { ...process.env, TEMPORAL_CLI_PATH: inject('temporalPath') };
    let server = await startDevServer({ dataDirectory, environment });
    const sleep = uniqueSleep();
    try {
      await using restarted = await createKillWorld({
        address: server.address,
        // The worker may be taken for lost while the server is away; then the model is asked again.
        script: (_, index) => (index === 0 ? reply.toolCalls([bash(sleep)]) : reply.hang()),
      });
      await restarted.startWorker();
      const run = await restarted.client.start('Go');
      await running(sleep);
      process.kill(server.pid, 'SIGKILL');
      await server.gone;
      await expect(run.abort()).rejects.toThrow(/server/i);
      server = await startDevServer({ dataDirectory, environment });
      // The worker comes back to the server within a few seconds.
      const abortedAfter = [await vi.waitFor(() => run.lastSequence(), 60_000)];
      await run.abort();
      expect(await run.result()).toMatchObject({ stopReason: 'aborted' });
      await gone(sleep);
      expect(restarted.gates.reached('before-bash')).toHaveLength(1);
      expect((await eventsOf(run)).at(-1)?.type).toBe('agent_end');
      expect((await resultsOf(run))[0]?.text).toMatch(/abort|unknown/i);
      expect(await violationsOf(restarted, run, { inputs, abortedAfter })).toEqual([]);
    } finally {
      await server.stop();
      await rm(dataDirectory, { recursive: true, force: true });
    }
  });
});
