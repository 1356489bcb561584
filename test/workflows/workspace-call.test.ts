// When calls on a named workspace are offered, for how long, and when they are given up: with activities that
// behave as Temporal's and a clock of the test's own.

import { ActivityFailure, RetryState, TimeoutFailure } from '@temporalio/common';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CallToolInput, ToolResult } from '../../src/protocol/activities.js';
import type { ToolEffects } from '../../src/protocol/agent-definition.js';
import { createWorkspaceCaller } from '../../src/workflows/workspace-call.js';
import { runningSession } from '../support/fake-session.js';
import { toolCall, toolSpec } from '../support/loop-values.js';

interface Offer {
  readonly at: number;
  readonly forMs: number;
}
type Activity = (offer: Offer) => Promise<unknown>;

const offers: Offer[] = [];
const probes: Offer[] = [];
let callTool: Activity;
let reachWorkspace: Activity;
let begun = 0;

const offered = (list: Offer[], place: { readonly scheduleToStartTimeout?: unknown }): Offer => {
  const offer = { at: Date.now() - begun, forMs: Number(place.scheduleToStartTimeout) };
  list.push(offer);
  return offer;
};

vi.mock(import('@temporalio/workflow'), async (original) => ({
  ...(await original()),
  setCurrentDetails: () => undefined,
  workflowInfo: () => ({ taskQueue: 'main' }) as never,
}));
vi.mock(import('../../src/workflows/activity-calls.js'), async (original) => ({
  ...(await original()),
  toolCaller: (_spec, _args, place) =>
    ({ callTool: () => callTool(offered(offers, place)) }) as never,
  workspaceReacher: (_workspace, place) =>
    ({ reachWorkspace: () => reachWorkspace(offered(probes, place)) }) as never,
}));

const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const answer: ToolResult = { content: [{ type: 'text', text: 'done' }], isError: false };

/** Nobody takes it in time; an earlier attempt of it may have left a heartbeat. */
const lapses =
  (heartbeat?: unknown): Activity =>
  async ({ forMs }) => {
    await after(forMs);
    const cause = new TimeoutFailure('not taken', heartbeat, 'SCHEDULE_TO_START');
    throw new ActivityFailure('failed', 'callTool', '1', RetryState.TIMEOUT, 'worker', cause);
  };

const minutes = 60_000;

function start(effects: ToolEffects = 'non-idempotent') {
  const { session } = runningSession({ workspace: 'left' });
  session.setResolved({ name: 'default', model: 'm', models: {}, tools: [], hooks: [] });
  const caller = createWorkspaceCaller(session, () => false);
  const call = toolCall('c1', 'bash', {});
  const spec = { ...toolSpec('bash'), effects };
  const outcome = caller({ call, args: {}, message: 0, spec, turn: 1 }, {} as CallToolInput);
  return { session, outcome };
}

async function textOf(outcome: Promise<ToolResult>): Promise<string> {
  await vi.runAllTimersAsync();
  const [block] = (await outcome).content;
  return block?.type === 'text' ? block.text : '';
}

beforeEach(() => {
  vi.useFakeTimers();
  begun = Date.now();
  offers.length = 0;
  probes.length = 0;
});
afterEach(() => vi.useRealTimers());

describe('a call on a named workspace', () => {
  test('that is taken is offered once, and nothing waits', async () => {
    callTool = async () => answer;
    const { outcome } = start();
    expect(await textOf(outcome)).toBe('done');
    expect(offers).toEqual([{ at: 0, forMs: 3_000 }]);
    expect(probes).toEqual([]);
  });

  test('nobody takes waits ten minutes in all, in a probe, and says that nothing was executed', async () => {
    callTool = reachWorkspace = lapses();
    const { outcome } = start();
    expect(await textOf(outcome)).toMatch(
      /^Nothing was executed: no worker of the workspace "left" took the call within 10 minutes\./,
    );
    expect(offers).toEqual([{ at: 0, forMs: 3_000 }]);
    expect(probes).toEqual([{ at: 3_000, forMs: 597_000 }]);
  });

  test('busy workers do not take is offered in longer and longer windows within the same ten minutes', async () => {
    callTool = lapses();
    reachWorkspace = () => after(1_000);
    const { outcome } = start();
    expect(await textOf(outcome)).toMatch(/^Nothing was executed/);
    expect(offers.map(({ forMs }) => forMs)).toEqual([3_000, 12_000, 48_000, 192_000, 341_000]);
    expect(Date.now() - begun).toBe(10 * minutes);
  });

  test('that a worker lost waits anew each time, and no longer than the wait', async () => {
    let times = 0;
    callTool = (offer) => lapses((times += 1) < 3 ? { attempt: 1 } : undefined)(offer);
    reachWorkspace = (offer) => (times < 3 ? after(5 * minutes) : lapses()(offer));
    const { outcome } = start('read-only');
    expect(await textOf(outcome)).toMatch(/^This call was begun, wholly or in part, /);
    expect(offers).toHaveLength(3);
    expect(probes.map(({ forMs }) => forMs)).toEqual([597_000, 588_000, 240_000]);
  });

  test('that must not run twice is not offered again once there is a sign that it began', async () => {
    callTool = lapses({ attempt: 1 });
    const { outcome } = start();
    const failure = outcome.catch((error: unknown) => error);
    await vi.runAllTimersAsync();
    expect(await failure).toBeInstanceOf(ActivityFailure);
    expect(offers).toHaveLength(1);
    expect(probes).toEqual([]);
  });

  test('is offered again when the worker that took the probe failed at it', async () => {
    callTool = (offer) => (offers.length === 1 ? lapses()(offer) : Promise.resolve(answer));
    reachWorkspace = async () => {
      throw new ActivityFailure('failed', 'reachWorkspace', '2', RetryState.TIMEOUT, 'worker');
    };
    const { session, outcome } = start();
    expect(await textOf(outcome)).toBe('done');
    expect(offers).toHaveLength(2);
    expect(session.pendingToolCalls.get('c1')?.status).toBe('running');
  });
});
