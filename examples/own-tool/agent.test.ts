// Tests the agent and its tools: everything is real but the model. Needs no key, and @temporalio/testing.
//
//   npx tsx --test examples/own-tool/agent.test.ts

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTestEnvironment, findViolations, recordSession, reply } from 'holdfast/testing';
import config from './holdfast.config.js';

test('fruit is ordered once a person has agreed', async () => {
  await using environment = await createTestEnvironment({ config });
  environment.model.add(
    reply.toolCalls([{ name: 'price', arguments: { fruit: 'pear' } }]),
    reply.toolCalls([{ name: 'order', arguments: { fruit: 'pear', count: 3 } }]),
    reply.text('Three pears are on their way.'),
  );

  const run = await environment.client.start('Three pears, if one costs less than a euro');
  for await (const event of run.events()) {
    if (event.type === 'approval_requested') await run.approve();
  }

  const { response } = await run.result();
  assert.equal(response?.content, 'Three pears are on their way.');
  assert.equal(await readFile(join(environment.workspace, 'orders.txt'), 'utf8'), '3 pear\n');
  // What the model was told of the first tool.
  const [, second] = environment.model.requests;
  assert.equal(second?.body.messages.at(-1)?.content, 'One pear costs 0.55 euros.');
  assert.deepEqual(findViolations(await recordSession(run)), []);
});
