// Workers of named workspaces, each a process with a directory of its own: their files stay apart, and a
// session goes on, or says what it does not know, when one of them disappears.

import { execFile } from 'node:child_process';
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { reply } from '../../src/testing/scripted-model.js';
import type { ReplyFunction } from '../../src/testing/scripted-model.js';
import { eventsOf, violationsOf } from '../support/agent-world.js';
import { gone, running, uniqueSleep } from '../activities/tools/processes.js';
import { untilStatus } from '../support/session-steps.js';
import { createKillWorld, resultsOf } from '../support/worker-process-world.js';
import type { KillWorld, WorkerProcess } from '../support/worker-process-world.js';

const inputs = [{ message: 'Go' }];
const bash = (command: string) => ({ name: 'bash', arguments: { command } });
const read = (path: string) => ({ name: 'read', arguments: { path } });

let world: KillWorld;
beforeAll(async () => {
  world = await createKillWorld({ config: { workspaceWait: '2 minutes' } });
  await world.startWorker();
});
afterEach(() => world.reset());
afterAll(() => world[Symbol.asyncDispose]());

const rootOf = (workspace: string) => join(world.workspace, '..', workspace);
const fileOf = (workspace: string, path: string) =>
  readFile(join(rootOf(workspace), path), 'utf8').catch(() => '');
const startIn = (workspace: string) => world.client.start({ prompt: 'Go', workspace });

/** A worker whose config declares this workspace and no other. */
async function serve(workspace: string): Promise<WorkerProcess> {
  const root = rootOf(workspace);
  await mkdir(root, { recursive: true });
  return world.startWorker({ workspaces: { [workspace]: { root } } });
}

describe('two workers with a workspace each', () => {
  test('two sessions write, edit, read and run commands in their own directory and never in the other', async () => {
    await Promise.all([serve('left'), serve('right')]);
    // Both sessions are told the same; what differs is where they are.
    const steps = [
      reply.toolCalls([{ name: 'write', arguments: { path: 'a.txt', content: 'one' } }]),
      reply.toolCalls([bash('pwd >> where; cat a.txt where'), read('a.txt')]),
      reply.toolCalls([
        { name: 'edit', arguments: { path: 'a.txt', oldText: 'one', newText: 'two' } },
      ]),
      reply.toolCalls([bash('seq 1 30000')]),
      reply.text('Done.'),
    ];
    const next: ReplyFunction = ({ messages }) =>
      steps[messages.filter(({ role }) => role === 'assistant').length] ?? reply.text('Too far.');
    world.model.add(...Array<ReplyFunction>(2 * steps.length).fill(next));
    const [left, right] = await Promise.all([startIn('left'), startIn('right')]);
    await Promise.all([left.result(), right.result()]);

    for (const [workspace, run] of [['left', left] as const, ['right', right] as const]) {
      const root = rootOf(workspace);
      const [, listed, readBack, , long] = await resultsOf(run);
      expect(listed).toEqual({ text: `one${root}`, isError: false });
      expect(readBack?.text).toContain('one');
      expect(await fileOf(workspace, 'a.txt')).toBe('two');
      expect(await fileOf(workspace, 'where')).toBe(`${root}\n`);
      expect((await readdir(root)).toSorted()).toEqual(['.holdfast', 'a.txt', 'where']);
      // The whole of a long result lies where it was made.
      const [kept = ''] = /\.holdfast\/output\/\S+/.exec(long?.text ?? '') ?? [];
      expect(await fileOf(workspace, kept.replace(/[^\w]+$/, ''))).toContain('\n30000');
      expect(await violationsOf(world, run, { inputs })).toEqual([]);
    }
    // The worker of the main queue resolved the agent and made the model calls; its directory is untouched.
    expect(await readdir(world.workspace)).toEqual([]);
  });
});

describe('a workspace that', () => {
  test('nobody serves yet: state says so to the stock CLI, and the call runs once when a worker comes', async () => {
    world.model.add(reply.toolCalls([bash('echo once >> log')]), reply.text('Done.'));
    const run = await startIn('late');
    await untilStatus(run, 'waiting_for_workspace');
    const { stdout } = await promisify(execFile)(
      inject('temporalPath'),
      ['workflow', 'query', '--workflow-id', run.workflowId, '--type', 'state'].concat(
        '--address',
        inject('serverAddress'),
      ),
    );
    expect(stdout).toContain('"status":"waiting_for_workspace"');
    expect(stdout).toContain(`${world.taskQueue}/workspace/late`);
    await serve('late');
    await run.result();
    expect(await fileOf('late', 'log')).toBe('once\n');
    expect(await resultsOf(run)).toEqual([{ text: '(no output)', isError: false }]);
    expect(await violationsOf(world, run, { inputs })).toEqual([]);
  });

  test('disappears with its worker during a bash call: the outcome is unknown, and it is not run again when the worker is back', async () => {
    const sleep = uniqueSleep();
    world.model.add(
      reply.toolCalls([bash(`echo once >> log; ${sleep}`)]),
      reply.toolCalls([bash('cat log')]),
      reply.text('I see.'),
    );
    const worker = await serve('lost');
    const run = await startIn('lost');
    await running(sleep);
    await worker.kill();
    await gone(sleep);
    // The model is told, and what it asks next waits for the worker.
    await untilStatus(run, 'waiting_for_workspace');
    expect((await resultsOf(run))[0]?.text).toMatch(
      /^The outcome of this call is unknown: the worker that ran it was lost\. It was not run again\./,
    );
    await serve('lost');
    await run.result();
    expect((await resultsOf(run))[1]).toEqual({ text: 'once', isError: false });
    expect(await violationsOf(world, run, { inputs })).toEqual([]);
  });

  test('has a worker that was stopped when a call came: the outcome is unknown, and it is not begun when the worker wakes', async () => {
    world.model.add(
      reply.toolCalls([bash('echo before >> log')]),
      reply.text('Done.'),
      reply.toolCalls([bash('echo late >> log')]),
      reply.text('I see.'),
      reply.toolCalls([bash('echo after >> log')]),
      reply.text('Done.'),
    );
    const { pid } = await serve('asleep');
    // Now it surely polls.
    await (await startIn('asleep')).result();
    process.kill(pid, 'SIGSTOP');
    const run = await startIn('asleep');
    await run.result();
    expect((await resultsOf(run))[0]?.text).toMatch(/^The outcome of this call is unknown/);
    process.kill(pid, 'SIGCONT');
    // What waited for the worker to wake begins before what comes later.
    const next = await startIn('asleep');
    await next.result();
    expect(await fileOf('asleep', 'log')).toBe('before\nafter\n');
    expect(await violationsOf(world, run, { inputs })).toEqual([]);
  });

  test('disappears with its worker during a read: the session says that it waits, and goes on when the worker is back', async () => {
    world.model.add(
      reply.toolCalls([{ name: 'write', arguments: { path: 'a.txt', content: 'kept' } }]),
      reply.toolCalls([read('a.txt')]),
      reply.text('Done.'),
    );
    world.gates.close('before-read');
    const worker = await serve('gone');
    const run = await startIn('gone');
    expect(await world.reached('before-read')).toBe(worker.pid);
    await worker.kill();
    const { pendingToolCalls } = await untilStatus(run, 'waiting_for_workspace');
    expect(pendingToolCalls).toMatchObject([{ toolName: 'read', status: 'waiting_for_workspace' }]);
    world.gates.open('before-read');
    const successor = await serve('gone');
    await run.result();
    expect(world.gates.reached('before-read')).toEqual([worker.pid, successor.pid]);
    expect((await resultsOf(run))[1]).toMatchObject({
      text: expect.stringContaining('kept'),
      isError: false,
    });
    const waits = (await eventsOf(run)).filter(({ type }) => type.startsWith('workspace_wait'));
    expect(waits).toMatchObject([
      { type: 'workspace_wait_start', workspace: 'gone' },
      { type: 'workspace_wait_end', reached: true },
    ]);
    expect(await violationsOf(world, run, { inputs })).toEqual([]);
  });
});
