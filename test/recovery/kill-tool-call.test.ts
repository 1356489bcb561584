// The worker is killed around a batch of tool calls. Each time another worker finishes the run: a call that
// had a result keeps it, one that may run again runs again, and one that must not is answered as unknown.

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { reply } from '../../src/testing/scripted-model.js';
import type { ScriptedRequest } from '../../src/testing/scripted-model.js';
import { eventsOf, violationsOf } from '../support/agent-world.js';
import { gone, running, uniqueSleep } from '../activities/tools/processes.js';
import { createKillWorld, resultsOf, rolesOf } from '../support/worker-process-world.js';
import type { KillWorld } from '../support/worker-process-world.js';

const hooks = ['beforeToolCall', 'afterToolCall', 'prepareNextTurn', 'shouldStopAfterTurn'];
const unknown =
  /^The outcome of this call is unknown: the worker that ran it was lost\. It was not run again\. Attempted: /;

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

async function takeOverUntilRequest(phase: string, meanwhile = () => {}): Promise<ScriptedRequest> {
  const request = world.nextRequest();
  const killedAt = await world.takeOver();
  meanwhile();
  const next = await request;
  times.push(`${phase} ${Math.round(next.at - killedAt)} ms`);
  return next;
}

const bash = (command: string) => ({ name: 'bash', arguments: { command } });

describe('a worker killed', () => {
  test('during a bash call: its processes die, it is not run again, and the model is told so', async () => {
    const sleep = uniqueSleep();
    const command = `echo once >> effects.txt; (trap '' TERM HUP; setsid ${sleep} & ${sleep})`;
    world.model.add(reply.toolCalls([bash(command)]), reply.text('I see.'));
    const run = await world.client.start('Go');
    await running(sleep, 2);
    const { body } = await takeOverUntilRequest('bash');
    await gone(sleep);
    expect(body.messages.at(-1)).toMatchObject({ role: 'tool' });
    expect(body.messages.at(-1)?.content).toMatch(unknown);
    expect(body.messages.at(-1)?.content).toContain('effects.txt');
    expect((await run.result()).response?.content).toBe('I see.');
    expect(await world.file('effects.txt')).toBe('once\n');
    expect(world.gates.reached('before-bash')).toHaveLength(1);
    expect(await violationsOf(world, run, { inputs: [{ message: 'Go' }] })).toEqual([]);
  });

  test('during an edit: it is not run again, although it may have happened', async () => {
    world.model.add(
      reply.toolCalls([{ name: 'write', arguments: { path: 'e.txt', content: 'one' } }]),
      reply.toolCalls([
        { name: 'edit', arguments: { path: 'e.txt', oldText: 'one', newText: 'one one' } },
      ]),
      reply.text('Done.'),
    );
    world.gates.close('after-edit');
    const run = await world.client.start('Go');
    await world.reached('after-edit');
    await takeOverUntilRequest('edit', () => world.gates.open('after-edit'));
    await run.result();
    expect((await resultsOf(run))[1]?.text).toMatch(unknown);
    expect(await world.file('e.txt')).toBe('one one');
    expect(await violationsOf(world, run, { inputs: [{ message: 'Go' }] })).toEqual([]);
  });

  test.each([
    ['before', 'read'],
    ['after', 'read'],
    ['before', 'write'],
    ['after', 'write'],
  ])(
    'just %s a %s took effect: the call is made again, and its result is the only one',
    async (side, tool) => {
      const path = `${side}-${tool}.txt`;
      const write = { name: 'write', arguments: { path, content: 'kept' } };
      world.model.add(
        reply.toolCalls([write]),
        reply.toolCalls([{ name: 'read', arguments: { path } }]),
        reply.text('Done.'),
      );
      const gate = `${side}-${tool}`;
      world.gates.close(gate);
      const run = await world.client.start('Go');
      const first = await world.reached(gate);
      await takeOverUntilRequest(gate, () => world.gates.open(gate));
      await run.result();
      expect(world.gates.reached(`before-${tool}`)).toEqual([first, world.worker.pid]);
      expect((await resultsOf(run)).map(({ isError }) => isError)).toEqual([false, false]);
      expect((await resultsOf(run))[1]?.text).toContain('kept');
      expect(await world.file(path)).toBe('kept');
      expect(await violationsOf(world, run, { inputs: [{ message: 'Go' }] })).toEqual([]);
    },
  );

  test('during a batch of three: the finished result is kept, the read is made again, the bash is unknown', async () => {
    const sleep = uniqueSleep();
    world.model.add(
      reply.toolCalls([{ name: 'write', arguments: { path: 'batch.txt', content: 'text' } }]),
      reply.toolCalls([
        bash('echo first >> batch.log; echo finished'),
        { name: 'read', arguments: { path: 'batch.txt' } },
        bash(`echo third >> batch.log; ${sleep}`),
      ]),
      reply.text('Done.'),
    );
    world.gates.close('before-read');
    const run = await world.client.start('Go');
    await running(sleep);
    await world.reached('before-read');
    await vi.waitFor(async () => {
      const ended = (await eventsOf(run)).filter(({ type }) => type === 'tool_execution_end');
      expect(ended).toHaveLength(2);
    }, 20_000);
    const { body } = await takeOverUntilRequest('batch', () => world.gates.open('before-read'));
    await gone(sleep);
    await run.result();
    const [, finished, read, lost] = await resultsOf(run);
    expect(finished).toEqual({ text: 'finished', isError: false });
    expect(read).toMatchObject({ text: expect.stringContaining('text'), isError: false });
    expect(lost).toEqual({ text: expect.stringMatching(unknown), isError: true });
    expect(body.messages.slice(-3).map(({ role }) => role)).toEqual(['tool', 'tool', 'tool']);
    const log = (await world.file('batch.log')).trim().split('\n');
    expect(log.toSorted()).toEqual(['first', 'third']);
    expect(await violationsOf(world, run, { inputs: [{ message: 'Go' }] })).toEqual([]);
  });

  test.each(hooks)('during %s: the hook runs again elsewhere, the tool does not', async (hook) => {
    world.model.add(
      reply.toolCalls([bash(`echo ${hook} >> hooks.txt; echo effect`)]),
      reply.text('Done.'),
    );
    world.gates.close(hook);
    const run = await world.client.start({ prompt: 'Go', agent: 'hooked' });
    const first = await world.reached(hook);
    await takeOverUntilRequest(hook, () => world.gates.open(hook));
    await run.result();
    expect(world.gates.reached(hook).slice(0, 2)).toEqual([first, world.worker.pid]);
    const lines = (await world.file('hooks.txt')).split('\n').filter((line) => line === hook);
    expect(lines).toHaveLength(1);
    expect(await resultsOf(run)).toEqual([{ text: 'seen by the hook\neffect', isError: false }]);
    expect(await violationsOf(world, run, { inputs: [{ message: 'Go' }] })).toEqual([]);
  });
});

describe('without any worker', () => {
  test('an approval is answered: the call runs once a worker is there', async () => {
    world.model.add(
      reply.toolCalls([bash('echo approved >> approved.txt'), bash('echo denied >> denied.txt')]),
      reply.text('Done.'),
    );
    const run = await world.client.start({ prompt: 'Go', agent: 'asking' });
    const waiting = await vi.waitFor(async () => {
      const { pendingApprovals } = await run.state();
      expect(pendingApprovals).toHaveLength(2);
      return pendingApprovals;
    }, 20_000);
    await world.killWorker();
    await run.approve({ toolCallId: waiting[0]?.toolCallId ?? '' });
    await run.deny({ toolCallId: waiting[1]?.toolCallId ?? '', reason: 'Not that.' });
    await world.startWorker();
    await run.result();
    expect(await world.file('approved.txt')).toBe('approved\n');
    expect(await world.file('denied.txt')).toBe('');
    expect((await resultsOf(run)).map(({ isError }) => isError)).toEqual([false, true]);
    expect((await resultsOf(run))[1]?.text).toContain('Not that.');
    expect(await violationsOf(world, run, { inputs: [{ message: 'Go' }] })).toEqual([]);
  });

  test('a steer and a follow-up are sent between a tool call and the next turn: each is delivered once', async () => {
    const sleep = uniqueSleep();
    world.model.add(
      reply.toolCalls([bash(sleep)]),
      reply.text('Steered.'),
      reply.text('Followed up.'),
    );
    const run = await world.client.start('Go');
    await running(sleep);
    await world.killWorker();
    await run.followUp('And then', { id: 'follow-up' });
    await run.steer('Mind the step', { id: 'steer' });
    await run.steer('Mind the step', { id: 'steer' });
    const request = world.nextRequest();
    await world.startWorker();
    const { body } = await request;
    expect(body.messages.slice(-2).map(({ role }) => role)).toEqual(['tool', 'user']);
    expect(JSON.stringify(body.messages.at(-1))).toContain('Mind the step');
    expect((await run.result()).response?.content).toBe('Followed up.');
    expect(await rolesOf(run)).toBe('user assistant toolResult user assistant user assistant');
    const inputs = [
      { message: 'Go' },
      { id: 'follow-up', message: 'And then' },
      { id: 'steer', message: 'Mind the step' },
      { id: 'steer', message: 'Mind the step' },
    ];
    expect(await violationsOf(world, run, { inputs })).toEqual([]);
  });
});
