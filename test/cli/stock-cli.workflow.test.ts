// The whole life of an agent with nothing but Temporal's own command line: the script is the one people may
// read, too.

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { reply } from '../../src/testing/scripted-model.js';
import { createAgentWorld } from '../support/agent-world.js';
import { expectSound, spoken } from '../support/session-steps.js';

const script = fileURLToPath(new URL('stock-cli.sh', import.meta.url));

const bash = (command: string, id: string) =>
  reply.toolCalls([{ name: 'bash', arguments: { command }, id }]);

test('agents are started, watched, steered, approved, denied, cancelled and closed with the stock Temporal CLI', async () => {
  await using world = await createAgentWorld({
    script: [
      bash('ls', 'call_1'),
      reply.text('There is notes.txt.'),
      reply.text('One file.'),
      bash('rm *', 'call_1'),
      bash('rm -r .', 'call_2'),
      reply.text('Hello!'),
      reply.text('Goodbye!', { reasoning: 'They are leaving.' }),
    ],
    config: { agents: { default: { approval: { bash: 'ask' } } } },
  });
  await writeFile(join(world.workspace, 'notes.txt'), 'x');
  const prefix = `stock-${randomUUID()}`;
  const { stdout, stderr } = await promisify(execFile)('sh', [script, world.taskQueue, prefix], {
    env: {
      ...process.env,
      TEMPORAL_ADDRESS: inject('serverAddress'),
      PATH: `${dirname(inject('temporalPath'))}${delimiter}${process.env['PATH'] ?? ''}`,
    },
  });
  expect(stderr).toBe('');
  const lines = stdout.split('\n');
  const said = (start: string, nth = 0) =>
    lines.filter((line) => line.startsWith(start))[nth]?.replaceAll(/\s+/g, ' ') ?? '';

  expect(said('state:')).toMatch(/"pendingApprovals": \[ \{.*"toolName": "bash"/);
  expect(said('queues:')).toMatch(/"followUpLength": 1.*"steeringLength": 1/);
  expect(said('queues:')).toMatch(/"preview": "Only the text files"/);
  expect(said('result:')).toMatch(/One file\..*"stopReason": ?"stop"/);
  expect(said('events:')).toMatch(/"seq": 3.*"seq": 5/);
  expect(said('messages:')).toMatch(/List the files here.*notes\.txt.*Only the text files/);
  expect(said('response:')).toContain('One file.');
  expect(stdout).toMatch(/status\s+canceled/i);
  expect(stdout).toContain('outcome:started');
  expect(said('response:', 1)).toContain('Goodbye!');
  expect(said('response:', 1)).not.toContain('leaving');
  expect(stdout).toContain('followUp');
  expect(said('result:', 1)).toMatch(/"runs": ?2/);

  const run = world.client.get(`${prefix}-run`);
  expect(await spoken(run)).toEqual([
    'user: List the files here',
    'assistant: ',
    'toolResult: notes.txt',
    'user: Only the text files',
    'assistant: There is notes.txt.',
    'user: Then count them',
    'assistant: One file.',
  ]);
  expect(await readdir(world.workspace)).toEqual(['notes.txt']);
  for (const name of ['run', 'stopped', 'session']) {
    await expectSound(world, world.client.get(`${prefix}-${name}`));
  }
  expect(world.model.remaining).toBe(0);
});
