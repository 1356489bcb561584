// A run that grows its history towards the server's limits ends by itself before them, with its transcript
// readable; the server would terminate it.

import { expect, test, vi } from 'vitest';
import { reply } from '../../src/testing/scripted-model.js';
import { eventsOf, violationsOf } from '../support/agent-world.js';
import { createKillWorld, rolesOf } from '../support/worker-process-world.js';

const bytes = 1_500_000;
const mayGrowTo = 40_000_000;

test('tool results of 1.5 MB end a run with limit_reached at 40 MB of history, and the server does not end it', async () => {
  await using world = await createKillWorld({
    script: () => reply.toolCalls([{ name: 'picture', arguments: { bytes } }]),
  });
  const models = {
    // The pictures stay in the transcript; the model need not see them here.
    default: { model: 'scripted', baseURL: world.model.baseURL, quirks: { images: false } },
  };
  await world.startWorker({ models });
  // A session, as a closed workflow is replayed for every query: here, 40 MB of it.
  const session = await world.client.start({
    prompt: 'Draw',
    lifetime: 'session',
    limits: { maxImageBytes: bytes },
  });
  await vi.waitFor(async () => expect((await session.state()).status).toBe('idle'), {
    timeout: 200_000,
    interval: 500,
  });
  expect((await eventsOf(session)).slice(-2)).toMatchObject([
    { type: 'limit_reached', limit: 'historyBytes', value: mayGrowTo },
    { type: 'agent_end' },
  ]);
  const handle = world.client.temporal.workflow.getHandle(session.workflowId);
  const { status, historySize } = await handle.describe();
  expect(status.name).toBe('RUNNING');
  expect(historySize).toBeGreaterThan(mayGrowTo);
  expect(historySize).toBeLessThan(50_000_000);
  // The server takes what it still needs to close.
  const requests = world.model.requests.length;
  expect(await rolesOf(session)).toMatch(/^user( assistant toolResult){20,}$/);
  expect(await violationsOf(world, session, { inputs: [{ message: 'Draw' }] })).toEqual([]);
  await session.close();
  expect(await session.result()).toMatchObject({ runs: 1 });
  expect(world.model.requests).toHaveLength(requests);
}, 300_000);
