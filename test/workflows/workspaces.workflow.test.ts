// Named workspaces: tool calls on a task queue of their own, and what a session does while nobody serves it.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import type { AgentRun } from '../../src/client/index.js';
import { defineTool } from '../../src/config/index.js';
import type { UserConfig } from '../../src/config/index.js';
import { reply } from '../../src/testing/scripted-model.js';
import { createAgentWorld, eventsOf } from '../support/agent-world.js';
import type { AgentWorld, AgentWorldOptions } from '../support/agent-world.js';
import { eventTypesOf, expectSound, scheduled, untilStatus } from '../support/session-steps.js';
import { resultsOf } from '../support/worker-process-world.js';

const bash = (command: string) => ({ name: 'bash', arguments: { command } });
const start = ({ client }: AgentWorld) => client.start({ prompt: 'Go', workspace: 'left' });
const queueOf = ({ taskQueue }: AgentWorld) => `${taskQueue}/workspace/left`;

interface WorkspaceWorld extends AgentWorld {
  /** The directory of the workspace `left`. */
  readonly left: string;
  /** Starts a worker that serves `left` and nothing else, and returns how to stop it. */
  addLeft(changes?: UserConfig): Promise<() => Promise<void>>;
}

/** One worker runs, without the workspace; it says how long to wait for one. */
async function createWorld(options: AgentWorldOptions): Promise<WorkspaceWorld> {
  const config = { workspaceWait: '4 seconds', ...options.config };
  const world = await createAgentWorld({ ...options, config });
  const left = await mkdtemp(join(tmpdir(), 'holdfast-left-'));
  return {
    ...world,
    left,
    addLeft: (changes) => world.addWorker({ workspaces: { left: { root: left } }, ...changes }),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await rm(left, { recursive: true, force: true });
    },
  };
}

const temporal = async (...args: readonly string[]) => {
  const address = ['--address', inject('serverAddress')];
  return (await promisify(execFile)(inject('temporalPath'), [...args, ...address])).stdout;
};

async function queuesOf(world: AgentWorld, run: AgentRun): Promise<readonly string[]> {
  const { events } = await world.client.temporal.workflow.getHandle(run.workflowId).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: attributes }) =>
    attributes == null
      ? []
      : [
          `${attributes.activityType?.name} ${attributes.taskQueue?.name?.replace(/^test-[^/]*/, 'main')}`,
        ],
  );
}

const inputs = { inputs: [{ message: 'Go' }] };

describe('a session on a named workspace', () => {
  test('runs its tools on the queue of the workspace, and all else on the main queue', async () => {
    await using world = await createWorld({
      script: [reply.toolCalls([bash('pwd; echo x > made')]), reply.text('Done.')],
      config: {
        agents: {
          default: {
            tools: ['bash'],
            hooks: {
              beforeToolCall: () => undefined,
              afterToolCall: () => ({ details: { seen: true } }),
              shouldStopAfterTurn: () => false,
            },
          },
        },
      },
    });
    await world.addLeft();
    const run = await start(world);
    await run.result();
    expect(await queuesOf(world, run)).toEqual([
      'resolveAgent main',
      'completeChat main',
      'beforeToolCall main',
      'callTool main/workspace/left',
      'afterToolCall main',
      'shouldStopAfterTurn main',
      'completeChat main',
      'shouldStopAfterTurn main',
    ]);
    expect(await resultsOf(run)).toEqual([{ text: world.left, isError: false }]);
    expect(await readdir(world.left)).toEqual(['made']);
    expect(await readdir(world.workspace)).toEqual([]);
    await expectSound(world, run, inputs);
  });

  test('waits for a worker, says so in state, details and events, and runs the call once when one comes', async () => {
    await using world = await createWorld({
      script: [
        reply.toolCalls([bash('echo a >> log'), bash('echo b >> log'), bash('echo c >> log')]),
        reply.text('Done.'),
      ],
      config: { workspaceWait: '2 minutes' },
    });
    const run = await start(world);
    const { pendingToolCalls, awaitedWorkspace } = await untilStatus(run, 'waiting_for_workspace');
    expect(awaitedWorkspace).toEqual({ workspace: 'left', taskQueue: queueOf(world) });
    expect(pendingToolCalls.map(({ status }) => status)).toEqual(
      Array(3).fill('waiting_for_workspace'),
    );
    const metadata = await temporal(
      'workflow',
      'metadata',
      '--workflow-id',
      run.workflowId,
      '--output',
      'json',
    );
    expect(metadata).toContain('**Status:** waiting for workspace');
    expect(metadata).toContain(queueOf(world));

    await world.addLeft();
    await run.result();
    const log = await readFile(join(world.left, 'log'), 'utf8');
    expect(log.split('\n').toSorted()).toEqual(['', 'a', 'b', 'c']);
    const waits = (await eventsOf(run)).filter(({ type }) => type.startsWith('workspace_wait'));
    expect(waits).toMatchObject([
      {
        type: 'workspace_wait_start',
        workspace: 'left',
        waitMs: 120_000,
      },
      { type: 'workspace_wait_end', workspace: 'left', reached: true },
    ]);
    // Three calls, offered twice; one probe for all.
    const types = (await scheduled(world, run)).map(({ type }) => type);
    expect(types.filter((type) => type === 'callTool')).toHaveLength(6);
    expect(types.filter((type) => type === 'reachWorkspace')).toHaveLength(1);
    await expectSound(world, run, inputs);
  });

  test('that nobody serves: after the wait the call is answered as not executed, and the model goes on', async () => {
    await using world = await createWorld({
      script: [reply.toolCalls([bash('echo x > made')]), reply.text('I see.')],
    });
    const run = await start(world);
    expect((await run.result()).response?.content).toBe('I see.');
    expect(await resultsOf(run)).toEqual([
      {
        text: 'Nothing was executed: no worker of the workspace "left" took the call within 4 seconds. Its files are out of reach until such a worker runs.',
        isError: true,
      },
    ]);
    // A worker that comes too late finds nothing to do.
    const stop = await world.addLeft();
    await stop();
    expect(await readdir(world.left)).toEqual([]);
    await expectSound(world, run, inputs);
  });

  test('aborted while it waits: the run ends at once, the call was not executed', async () => {
    await using world = await createWorld({
      script: [reply.toolCalls([bash('echo x > made'), bash('echo y > made')])],
      config: { workspaceWait: '2 minutes' },
    });
    const run = await start(world);
    await untilStatus(run, 'waiting_for_workspace');
    const abortedAfter = [(await eventsOf(run)).at(-1)?.seq ?? 0];
    await run.abort();
    expect((await run.result()).stopReason).toBe('aborted');
    const text = 'Aborted. This call was not executed.';
    expect(await resultsOf(run)).toEqual([
      { text, isError: true },
      { text, isError: true },
    ]);
    expect(await eventTypesOf(run)).toContain('workspace_wait_end');
    const stop = await world.addLeft();
    await stop();
    expect(await readdir(world.left)).toEqual([]);
    await expectSound(world, run, { ...inputs, abortedAfter });
  });

  test.each<[string, UserConfig, string]>([
    ['agent', { agents: { other: {} } }, 'has no agent named default'],
    [
      'tool',
      { agents: { default: { tools: ['read'] } } },
      'offers the agent default no tool named bash',
    ],
  ])(
    'whose worker lacks the %s: the result says which config lacks it',
    async (_, changes, text) => {
      await using world = await createWorld({
        script: [reply.toolCalls([bash('echo x > made')]), reply.text('I see.')],
      });
      await world.addLeft(changes);
      const run = await start(world);
      await run.result();
      expect(await resultsOf(run)).toEqual([
        {
          text: `The config of the worker that serves the workspace left ${text}. Nothing was executed.`,
          isError: true,
        },
      ]);
      await expectSound(world, run, inputs);
    },
  );

  test('that loses its worker: a call that may run again waits, and says at the end that it may have happened', async () => {
    let calls = 0;
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      parameters: { type: 'object' },
      effects: 'read-only',
      execute: async (_, { signal }) => {
        calls += 1;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return 'Interrupted.';
      },
    });
    const config = { tools: [look], agents: { default: { tools: ['look'] } } };
    await using world = await createWorld({
      script: [
        reply.toolCalls([{ name: 'look', arguments: {} }]),
        reply.text('I see.'),
        reply.toolCalls([{ name: 'look', arguments: {} }]),
      ],
      config,
    });
    // Told to stop, this worker lets nothing finish.
    const leaveMidCall = async (run: AgentRun, times: number) => {
      const stop = await world.addLeft({ ...config, shutdownGrace: 1 });
      await expect.poll(() => calls, { timeout: 20_000 }).toBe(times);
      await stop();
      return await untilStatus(run, 'waiting_for_workspace');
    };

    const run = await start(world);
    await leaveMidCall(run, 1);
    await run.result();
    expect(await resultsOf(run)).toEqual([
      {
        text: 'This call was begun, wholly or in part, and its result was lost with its worker: since then no worker of the workspace "left" took the call within 4 seconds. Its files are out of reach until such a worker runs.',
        isError: true,
      },
    ]);
    await expectSound(world, run, inputs);

    const aborted = await start(world);
    await leaveMidCall(aborted, 2);
    await aborted.abort();
    await aborted.result();
    expect((await resultsOf(aborted))[0]?.text).toMatch(
      /^Aborted\. An attempt of this call was lost with its worker/,
    );
  });

  test('a bash call that an operator paused and resumes when no worker is left is not offered again', async () => {
    await using world = await createWorld({
      script: [reply.toolCalls([bash('echo ran >> log; sleep 20')]), reply.text('I see.')],
    });
    const stop = await world.addLeft();
    const run = await start(world);
    const handle = world.client.temporal.workflow.getHandle(run.workflowId);
    const callOf = async () => {
      const { raw } = await handle.describe();
      return raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'callTool');
    };
    await expect
      .poll(async () => (await callOf())?.lastHeartbeatTime, { timeout: 20_000 })
      .toBeTruthy();
    const activity = async (command: string) =>
      temporal(
        'activity',
        command,
        '--workflow-id',
        run.workflowId,
        '--activity-id',
        (await callOf())?.activityId ?? '',
      );
    await activity('pause');
    await expect.poll(async () => (await callOf())?.attempt, { timeout: 20_000 }).toBe(2);
    await stop();
    await activity('unpause');
    // One that is there again would take whatever is offered.
    await expect.poll(async () => (await callOf()) === undefined, { timeout: 20_000 }).toBe(true);
    await world.addLeft();
    await run.result();
    expect((await resultsOf(run))[0]?.text).toMatch(/^The outcome of this call is unknown: /);
    expect(await readFile(join(world.left, 'log'), 'utf8')).toBe('ran\n');
    await expectSound(world, run, inputs);
  });
});

test('a session on the default workspace is given no queue but the main one, and no time to wait', async () => {
  await using world = await createWorld({
    script: [reply.toolCalls([bash('echo x > made')]), reply.text('Done.')],
  });
  const run = await world.client.start('Go');
  await run.result();
  expect(await queuesOf(world, run)).toEqual([
    'resolveAgent main',
    'completeChat main',
    'callTool main',
    'completeChat main',
  ]);
  const { events } = await world.client.temporal.workflow.getHandle(run.workflowId).fetchHistory();
  const waits = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: attributes }) =>
    attributes?.activityType?.name === 'callTool'
      ? [Number(attributes.scheduleToStartTimeout?.seconds ?? 0)]
      : [],
  );
  expect(waits).toHaveLength(1);
  expect(waits[0]).not.toBe(3);
});
