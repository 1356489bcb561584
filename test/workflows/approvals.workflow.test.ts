// Approvals through the whole stack: which calls wait, who may answer them, and that a wait outlives workers.

import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { reply } from '../../src/testing/scripted-model.js';
import { createAgentWorld, eventsOf, messagesOf } from '../support/agent-world.js';
import type { AgentWorld } from '../support/agent-world.js';
import {
  eventTypesOf,
  expectSound,
  scheduled,
  spoken,
  untilStatus,
} from '../support/session-steps.js';

const touch = (...names: readonly string[]) =>
  reply.toolCalls(
    names.map((name) => ({ name: 'bash', arguments: { command: `touch ${name}; echo ${name}` } })),
  );

const asking = { agents: { default: { approval: { bash: 'ask' } } } } as const;

function askingWorld(...names: readonly string[]): Promise<AgentWorld> {
  return createAgentWorld({ script: [touch(...names), reply.text('Done.')], config: asking });
}

describe('approval', () => {
  test('allow runs the call without asking', async () => {
    await using world = await createAgentWorld({
      script: [touch('a'), reply.text('Done.')],
      config: { agents: { default: { approval: { bash: 'allow' } } } },
    });
    const run = await world.client.start('Go');
    await run.result();
    expect(await eventTypesOf(run)).not.toContain('approval_requested');
    expect(await readdir(world.workspace)).toEqual(['a']);
    await expectSound(world, run);
  });

  test('deny answers the call with an error result and executes nothing', async () => {
    await using world = await createAgentWorld({
      script: [touch('a'), reply.text('Understood.')],
      config: { agents: { default: { approval: { bash: 'deny' } } } },
    });
    const run = await world.client.start('Go');
    await run.result();
    expect((await spoken(run))[2]).toContain('The policy of this agent denies the tool bash.');
    expect((await scheduled(world, run)).map(({ type }) => type)).not.toContain('callTool');
    expect(await readdir(world.workspace)).toEqual([]);
    await expectSound(world, run, { executed: [] });
  });

  test('ask: nothing is executed before the answer, state names the call and its arguments, and approve lets it run', async () => {
    await using world = await askingWorld('a');
    const run = await world.client.start('Go');
    const state = await untilStatus(run, 'waiting_for_approval');
    expect(state).toMatchObject({
      pendingApprovals: [
        { toolCallId: 'call_1', toolName: 'bash', args: '{"command":"touch a; echo a"}' },
      ],
      pendingToolCalls: [{ toolCallId: 'call_1', status: 'waiting_for_approval' }],
    });
    expect(await readdir(world.workspace)).toEqual([]);
    expect(await run.submit('approve')).toEqual({ outcome: 'accepted' });
    await run.result();
    expect(await readdir(world.workspace)).toEqual(['a']);
    const events = (await eventsOf(run)).filter(({ type }) => type.startsWith('approval'));
    expect(events).toMatchObject([
      { type: 'approval_requested', toolCallId: 'call_1', toolName: 'bash' },
      { type: 'approval_resolved', toolCallId: 'call_1', toolName: 'bash', approved: true },
    ]);
    await expectSound(world, run, { executed: ['call_1'] });
  });

  test('all calls of a parallel batch are asked for at once; each is answered by its id', async () => {
    await using world = await askingWorld('a', 'b', 'c');
    const run = await world.client.start('Go');
    await expect.poll(async () => (await run.state()).pendingApprovals.length).toBe(3);
    expect(await run.submit('approve')).toMatchObject({
      outcome: 'rejected',
      reason: expect.stringContaining('Several approvals are pending') as unknown,
    });
    expect(await run.submit('approve', { toolCallId: 'call_9' })).toMatchObject({
      outcome: 'rejected',
      reason: expect.stringContaining('call_9') as unknown,
    });
    await run.deny({ toolCallId: 'call_2', reason: 'Not that one' });
    await run.approve({ toolCallId: 'call_3' });
    await expect.poll(async () => (await run.state()).pendingApprovals.length).toBe(1);
    // No tool starts before every call is answered.
    expect(await readdir(world.workspace)).toEqual([]);
    await run.approve();
    await run.result();
    expect((await readdir(world.workspace)).toSorted()).toEqual(['a', 'c']);
    const results = (await messagesOf(run)).slice(2, 5);
    expect(results).toMatchObject([
      { toolCallId: 'call_1', isError: false },
      { toolCallId: 'call_2', isError: true },
      { toolCallId: 'call_3', isError: false },
    ]);
    expect((await spoken(run))[3]).toContain('Reason: Not that one');
    const events = await eventsOf(run);
    expect(events.filter(({ type }) => type === 'rejected')).toHaveLength(2);
    await expectSound(world, run, { executed: ['call_1', 'call_3'] });
  });

  test('of a sequential batch each call is asked for when its turn has come', async () => {
    await using world = await askingWorld('a', 'b');
    const run = await world.client.start({ prompt: 'Go', toolExecution: 'sequential' });
    await untilStatus(run, 'waiting_for_approval');
    expect((await run.state()).pendingApprovals.map(({ toolCallId }) => toolCallId)).toEqual([
      'call_1',
    ]);
    await run.approve({ toolCallId: 'call_1' });
    await expect
      .poll(async () => (await run.state()).pendingApprovals.map(({ toolCallId }) => toolCallId))
      .toEqual(['call_2']);
    expect(await readdir(world.workspace)).toEqual(['a']);
    await run.deny({ toolCallId: 'call_2' });
    await run.result();
    expect(await readdir(world.workspace)).toEqual(['a']);
    await expectSound(world, run, { executed: ['call_1'] });
  });

  test('deny with a bare string gives the reason; the model is told it', async () => {
    await using world = await askingWorld('a');
    const run = await world.client.start('Go');
    await untilStatus(run, 'waiting_for_approval');
    await world.client.temporal.workflow
      .getHandle(run.workflowId)
      .signal('deny', 'Ask me tomorrow');
    await run.result();
    expect(JSON.stringify(world.model.requests[1]?.body.messages)).toContain('Ask me tomorrow');
    expect(await readdir(world.workspace)).toEqual([]);
    await expectSound(world, run, { executed: [] });
  });

  test('an answered call takes no second answer', async () => {
    await using world = await askingWorld('a', 'b');
    const run = await world.client.start('Go');
    await expect.poll(async () => (await run.state()).pendingApprovals.length).toBe(2);
    await run.deny({ toolCallId: 'call_1' });
    expect(await run.submit('approve', { toolCallId: 'call_1' })).toMatchObject({
      outcome: 'rejected',
    });
    await run.deny({ toolCallId: 'call_2' });
    await run.result();
    expect(await readdir(world.workspace)).toEqual([]);
    await expectSound(world, run, { executed: [] });
  });

  test('a pending approval outlives its worker, and may be answered while there is none', async () => {
    await using world = await askingWorld('a');
    const run = await world.client.start('Go');
    await untilStatus(run, 'waiting_for_approval');
    await world.stopWorkers();
    await run.approve({ toolCallId: 'call_1' });
    await world.addWorker();
    expect((await run.result()).response?.content).toBe('Done.');
    expect(await readdir(world.workspace)).toEqual(['a']);
    await expectSound(world, run, { executed: ['call_1'] });
  });

  test('the worker that executes checks deny again: its config decides, not the one that resolved', async () => {
    await using world = await askingWorld('a');
    const run = await world.client.start('Go');
    await untilStatus(run, 'waiting_for_approval');
    await world.stopWorkers();
    await world.addWorker({ agents: { default: { approval: { bash: 'deny' } } } });
    await run.approve();
    await run.result();
    expect((await spoken(run))[2]).toMatch(
      /The policy of this worker denies.*Nothing was executed/,
    );
    expect(await readdir(world.workspace)).toEqual([]);
    await expectSound(world, run, { executed: [] });
  });

  test('the hook before a call decides first: a blocked call is not asked about, replaced arguments are shown', async () => {
    await using world = await createAgentWorld({
      script: [touch('a', 'b'), reply.text('Done.')],
      config: {
        agents: {
          default: {
            approval: { bash: 'ask' },
            hooks: {
              beforeToolCall: ({ toolCall }) =>
                toolCall.id === 'call_1'
                  ? { block: true, reason: 'Not that' }
                  : { arguments: { command: 'touch replaced' } },
            },
          },
        },
      },
    });
    const run = await world.client.start('Go');
    const { pendingApprovals } = await untilStatus(run, 'waiting_for_approval');
    expect(pendingApprovals).toMatchObject([
      { toolCallId: 'call_2', args: '{"command":"touch replaced"}' },
    ]);
    await run.approve();
    await run.result();
    expect(await readdir(world.workspace)).toEqual(['replaced']);
    await expectSound(world, run, { executed: ['call_2'] });
  });

  test('queued messages wait with the approval and are delivered after it', async () => {
    await using world = await askingWorld('a');
    const run = await world.client.start('Go');
    await untilStatus(run, 'waiting_for_approval');
    expect(await run.submit('steer', 'Hurry')).toEqual({ outcome: 'queued' });
    await run.approve();
    await run.result();
    expect((await spoken(run)).slice(2)).toEqual([
      'toolResult: a',
      'user: Hurry',
      'assistant: Done.',
    ]);
    await expectSound(world, run);
  });
});
