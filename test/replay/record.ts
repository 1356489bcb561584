// Records the histories of scenarios that have none yet: `npm run record-histories`. Histories are a public
// format: once kept they are never recorded again; a change of workflow code goes behind `patched`.

import { mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createAgentWorld, eventsOf } from '../support/agent-world.js';
import { historiesFolder, keep, keptNames, toLogEntry } from './kept.js';
import { scenarios } from './scenarios.js';

await mkdir(historiesFolder, { recursive: true });
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
