import { describe, expect, inject, test } from 'vitest';
import {
  createTestEnvironment,
  findViolations,
  recordSession,
  reply,
} from '../../src/testing/index.js';
import type { RecordedRun } from '../../src/testing/index.js';
import '../support/provided.js';
import { untilIdle } from '../support/session-steps.js';

const address = inject('serverAddress');
const touch = reply.toolCalls([
  { name: 'bash', arguments: { command: 'touch a' } },
  { name: 'bash', arguments: { command: 'ls' } },
]);

describe('recordSession', () => {
  test('a session of several runs, which began with a transcript, breaks no invariant', async () => {
    await using environment = await createTestEnvironment({
      address,
      script: [touch, reply.text('Done.'), reply.text('Again.'), reply.text('More.')],
    });
    const run = await environment.client.start({
      prompt: 'Touch',
      messages: [{ role: 'user', content: 'Earlier' }],
      lifetime: 'session',
    });
    await run.followUp('Again');
    await untilIdle(run, 1);
    await run.prompt('More');
    await untilIdle(run, 2);
    await run.steer('For the next run');

    const record = await recordSession(run);
    expect(record.carried).toBe(1);
    expect(record.events[0]).toMatchObject({ seq: 1 });
    expect(record.messages).toHaveLength(10);
    expect(record.queued).toMatchObject([{ preview: 'For the next run' }]);
    const inputs = ['Touch', 'Again', 'More', 'For the next run'].map((message) => ({ message }));
    expect(findViolations({ ...record, inputs })).toEqual([]);
    await run.close();
    await run.result();
    const closed = await recordSession(run);
    expect(closed.queued).toMatchObject([{ preview: 'For the next run' }]);
    expect(findViolations({ ...closed, inputs })).toEqual([]);
  });

  test('a record in which something is wrong has a sentence for it', async () => {
    await using environment = await createTestEnvironment({
      address,
      script: [touch, reply.text('Done.')],
    });
    const run = await environment.client.start('Touch');
    await run.result();
    const record = await recordSession(run);
    expect(findViolations(record)).toEqual([]);

    const without = record.messages.filter((_, index) => index !== 3);
    expect(findViolations({ ...record, messages: without })).toContain(
      'message 3 should be the result of call_2, but is assistant',
    );
    const gap = record.events.filter(({ type }) => type !== 'turn_start');
    expect(findViolations({ ...record, events: gap }).join('\n')).toMatch(/seq \d+ follows \d+/);
    const inputs = [{ message: 'Touch' }, { message: 'Lost on the way' }];
    expect(findViolations({ ...record, inputs }).join('\n')).toContain(
      '"Lost on the way" was sent 1 times, but is 0 times in the transcript',
    );
  });

  test('a run that goes on is a violation', async () => {
    await using environment = await createTestEnvironment({ address, script: [reply.hang()] });
    const run = await environment.client.start('Hi');
    await environment.model.request(0);
    expect(findViolations(await recordSession(run))).toContain('the last run has no agent_end');
    await run.cancel();
  });

  test('a session that no longer keeps its first events says so', async () => {
    const run = {
      workflowId: 'long',
      async *loggedEvents() {
        yield { seq: 21, at: '', type: 'turn_end', turn: 1, message: 1, toolResults: [] };
      },
      async *messages() {},
      state: () => Promise.resolve({ queues: { steering: [], followUp: [] } }),
    };
    await expect(recordSession(run as unknown as RecordedRun)).rejects.toThrow(
      "'long' no longer keeps its first 20 events: record shorter sessions.",
    );
  });
});
