// A worker that is told to stop (SIGTERM). That is no abort: what can finish within its grace finishes, what
// cannot goes on elsewhere, and a call that must not run twice ends with an unknown outcome.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { chunk, reply, step } from '../../src/testing/scripted-model.js';
import { eventsOf, messagesOf, violationsOf } from '../support/agent-world.js';
import { gone, running, uniqueSleep } from '../activities/tools/processes.js';
import { createKillWorld, resultsOf } from '../support/worker-process-world.js';
import type { KillWorld } from '../support/worker-process-world.js';

const inputs = [{ message: 'Go' }];
const bash = (command: string) => ({ name: 'bash', arguments: { command } });

let world: KillWorld;
beforeEach(async () => {
  world = await createKillWorld();
});
afterEach(async () => {
  world.reset();
  await world[Symbol.asyncDispose]();
});

async function attemptsOf({ workflowId }: { readonly workflowId: string }): Promise<number[]> {
  const { events } = await world.client.temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskStartedEventAttributes: started }) =>
    started == null ? [] : [started.attempt ?? 1],
  );
}

describe('a worker told to stop', () => {
  test('lets a model call and a tool call finish within its grace, and leaves', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    world.model.add(
      reply.toolCalls([bash('echo once >> effects.txt; echo effect')]),
      reply.raw([chunk.text('Slow'), step.until(held), chunk.finish('stop'), chunk.done]),
    );
    const first = await world.startWorker({ shutdownGrace: '60 seconds' });
    world.gates.close('after-bash');
    const run = await world.client.start('Go');
    await world.reached('after-bash');
    first.terminate();
    const request = world.nextRequest();
    const second = await world.startWorker({ shutdownGrace: '60 seconds' });
    world.gates.open('after-bash');
    expect(await first.ended).toBe(0);
    await request;
    second.terminate();
    await world.startWorker();
    release();
    expect(await second.ended).toBe(0);
    expect((await run.result()).response?.content).toBe('Slow');
    expect(await resultsOf(run)).toEqual([{ text: 'effect', isError: false }]);
    expect(await world.file('effects.txt')).toBe('once\n');
    expect(await attemptsOf(run)).toEqual([1, 1, 1, 1]);
    expect(await violationsOf(world, run, { inputs })).toEqual([]);
  });

  test('after its grace its model call goes on elsewhere; nothing of it is taken for an aborted answer', async () => {
    world.model.add(reply.raw([chunk.text('Half of '), step.hang]), reply.text('A whole answer.'));
    const request = world.nextRequest();
    const first = await world.startWorker({ shutdownGrace: 500 });
    const run = await world.client.start('Go');
    const { ended } = await request;
    await world.startWorker();
    const again = world.nextRequest();
    first.terminate();
    expect(await ended).toBe('left');
    expect(await first.ended).toBe(0);
    await again;
    expect((await run.result()).response?.content).toBe('A whole answer.');
    expect(await messagesOf(run)).toMatchObject([
      { role: 'user' },
      { role: 'assistant', stopReason: 'stop', attempts: 2 },
    ]);
    expect(await violationsOf(world, run, { inputs })).toEqual([]);
  });

  test('after its grace a read goes on elsewhere, a bash is unknown and its processes are dead', async () => {
    const sleep = uniqueSleep();
    world.model.add(
      reply.toolCalls([
        { name: 'read', arguments: { path: '.' } },
        bash(`echo once >> effects.txt; (trap '' TERM; ${sleep}) & ${sleep}`),
      ]),
      reply.text('I see.'),
    );
    const first = await world.startWorker({ shutdownGrace: 500 });
    world.gates.close('before-read');
    const run = await world.client.start('Go');
    await running(sleep, 2);
    await world.reached('before-read');
    const second = await world.startWorker();
    first.terminate();
    expect(await first.ended).toBe(0);
    await gone(sleep);
    await world.reached('before-read', 2);
    world.gates.open('before-read');
    expect((await run.result()).response?.content).toBe('I see.');
    expect(world.gates.reached('before-read')).toEqual([first.pid, second.pid]);
    expect(world.gates.reached('before-bash')).toEqual([first.pid]);
    const [, lost] = await resultsOf(run);
    expect(lost?.text).toMatch(
      /^The outcome of this call is unknown: the worker that ran it was lost/,
    );
    expect(JSON.stringify(await messagesOf(run))).not.toMatch(/abort/i);
    expect(await world.file('effects.txt')).toBe('once\n');
    expect(await violationsOf(world, run, { inputs })).toEqual([]);
  });

  test('after its grace a hook runs again elsewhere', async () => {
    world.model.add(reply.toolCalls([bash('echo effect')]), reply.text('Done.'));
    const first = await world.startWorker({ shutdownGrace: 500 });
    world.gates.close('beforeToolCall');
    const run = await world.client.start({ prompt: 'Go', agent: 'hooked' });
    await world.reached('beforeToolCall');
    const second = await world.startWorker();
    first.terminate();
    expect(await first.ended).toBe(0);
    expect(await world.reached('beforeToolCall', 2)).toBe(second.pid);
    world.gates.open('beforeToolCall');
    await run.result();
    expect(await resultsOf(run)).toEqual([{ text: 'seen by the hook\neffect', isError: false }]);
    expect(await violationsOf(world, run, { inputs })).toEqual([]);
  });

  test('while its session is idle: nothing changes, and the next prompt runs elsewhere', async () => {
    world.model.add(reply.text('First.'), reply.text('Second.'));
    const first = await world.startWorker();
    const session = await world.client.start({ prompt: 'Go', lifetime: 'session' });
    await vi.waitFor(async () => expect((await session.state()).status).toBe('idle'), 20_000);
    const before = await eventsOf(session);
    await world.startWorker();
    first.terminate();
    expect(await first.ended).toBe(0);
    expect(await eventsOf(session)).toEqual(before);
    await session.prompt('Go on');
    await vi.waitFor(
      async () => expect((await session.response())?.content).toBe('Second.'),
      20_000,
    );
    await session.close();
    await session.result();
    expect(
      await violationsOf(world, session, { inputs: [...inputs, { message: 'Go on' }] }),
    ).toEqual([]);
  });
});
