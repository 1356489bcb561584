// A run that grows its history towards the server's limits ends by itself before them, with its transcript
// readable; the server would terminate it.

import { expect, test, vi } from 'vitest';
import { reply } from '../../src/testing/scripted-model.js';
import { eventsOf } from '../support/agent-world.js';
import { createKillWorld } from '../support/worker-process-world.js';

const bytes = 1_500_000;
const mayGrowTo = 40_000_000;

test('tool results of 1.5 MB end a session with limit_reached at 40 MB of history, and the server does not end it', async () => {
  await using world = await createKillWorld({
    script: () => reply.toolCalls([{ name: 'picture', arguments: { bytes } }]),
  });
  const models = {
    // The pictures stay in the transcript; the model need not see them here.
    default: { model: 'scripted', baseURL: world.model.baseURL, quirks: { images: false } },
  };
  await world.startWorker({ models });
  const session = await world.client.start({
    prompt: 'Draw',
    lifetime: 'session',
    limits: { maxImageBytes: bytes },
  });
  const handle = world.client.temporal.workflow.getHandle(session.workflowId);
  await vi.waitFor(async () => expect((await handle.describe()).status.name).toBe('COMPLETED'), {
    timeout: 200_000,
    interval: 500,
  });
  const { historySize } = await handle.describe();
  expect(historySize).toBeGreaterThan(mayGrowTo);
  expect(historySize).toBeLessThan(50_000_000);
  expect(await session.result()).toMatchObject({ runs: 1, undelivered: [] });
  expect(world.model.requests.length).toBeGreaterThan(20);
  // A closed workflow is replayed for every page, which takes a busy machine longer than a client waits.
  const patient = { timeout: 120_000, interval: 500 };
  const { transcriptLength } = await vi.waitFor(() => session.state(), patient);
  expect(transcriptLength).toBe(1 + 2 * world.model.requests.length);
  const events = await vi.waitFor(() => eventsOf(session), patient);
  expect(events.slice(-3)).toMatchObject([
    { type: 'limit_reached', limit: 'historyBytes', value: mayGrowTo },
    { type: 'agent_end', messages: { from: 0, to: transcriptLength } },
    { type: 'closed', undelivered: [] },
  ]);
}, 300_000);
