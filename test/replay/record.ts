// Records the histories of scenarios that have none yet: `npm run record-histories`. Histories are a public
// format: once kept they are never recorded again; a change of workflow code goes behind `patched`.

import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reply } from '../../src/testing/scripted-model.js';
import { bundleOwnWorkflows } from '../../src/worker/own-bundle.js';
import { createAgentWorld, eventsOf } from '../support/agent-world.js';
import { untilIdle } from '../support/session-steps.js';
import { historiesFolder, keep, keptNames, toLogEntry } from './kept.js';
import { scenarios } from './scenarios.js';

await mkdir(join(historiesFolder, 'own'), { recursive: true });
const kept = await keptNames();

test.for(scenarios.filter(({ name }) => !kept.includes(name)))('$name', async (scenario) => {
  const { name, script, config, play } = scenario;
  await using world = await createAgentWorld({
    script,
    ...(config === undefined ? {} : { config }),
  });
  const workflowId = await play(world);
  const events = (await eventsOf(world.client.get(workflowId))).map((event) => toLogEntry(event));
  const history = await world.client.temporal.workflow.getHandle(workflowId).fetchHistory();
  await keep({ name, history, events });
  expect(await keptNames()).toContain(name);
});

const own = 'own/duet';
const ownFile = join(historiesFolder, `${own}.json.gz`);
test.skipIf(existsSync(ownFile))('own/duet', async () => {
  const file = new URL('./own-workflow.ts', import.meta.url).pathname;
  await using world = await createAgentWorld({
    bundlePath: await bundleOwnWorkflows(file),
    script: ({ messages }) => {
      const said = JSON.stringify(messages.at(-1));
      const bash = (command: string) => reply.toolCalls([{ name: 'bash', arguments: { command } }]);
      if (said.includes('One.')) return bash('echo one');
      return said.includes('Three.') ? bash('sleep 60') : reply.text('Yes.');
    },
  });
  const workflowId = 'duet';
  const { temporal } = world.client;
  await temporal.workflow.start('duet', { workflowId, taskQueue: world.taskQueue });
  const [first, second] = ['first', 'second'].map((agent) =>
    world.client.get(workflowId, { agent }),
  );
  if (first === undefined || second === undefined) throw new Error('There are two agents.');
  await untilIdle(second, 2);
  await first.steer('Be brief.');
  await first.submit('prompt', 'Four?');
  await untilIdle(first, 2);
  await first.abort();
  await first.close();
  await first.result();
  const events = (await eventsOf(first)).map((event) => toLogEntry(event));
  await keep({
    name: own,
    history: await temporal.workflow.getHandle(workflowId).fetchHistory(),
    events,
  });
  expect(existsSync(ownFile)).toBe(true);
});
