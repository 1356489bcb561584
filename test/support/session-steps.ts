// Steps that tests of whole sessions take: wait for a state, hold something back, read what was said,
// and check at the end that nothing was broken.

import { expect } from 'vitest';
import type { AgentRun } from '../../src/client/index.js';
import { textOf } from '../../src/protocol/messages.js';
import type { Message } from '../../src/protocol/messages.js';
import type { AgentSessionResult, AgentState, SessionStatus } from '../../src/protocol/session.js';
import type { SessionRecord } from '../../src/testing/session-record.js';
import { eventsOf, messagesOf, violationsOf } from './agent-world.js';
import type { AgentWorld } from './agent-world.js';

type AnyRun = Pick<AgentRun, 'workflowId' | 'loggedEvents' | 'messages' | 'state'>;

/** A promise that the test resolves. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

const waiting = { timeout: 40_000, interval: 50 };

export async function untilStatus(
  run: Pick<AgentRun, 'state'>,
  status: SessionStatus,
): Promise<AgentState> {
  await expect.poll(async () => (await run.state()).status, waiting).toBe(status);
  return run.state();
}

/** Waits until so many runs have ended. */
export async function untilIdle(run: Pick<AgentRun, 'state'>, runs: number): Promise<AgentState> {
  await expect
    .poll(async () => {
      const state = await run.state();
      return [state.status, state.runs];
    }, waiting)
    .toEqual(['idle', runs]);
  return run.state();
}

/** `user: Hello`, `assistant: Hi`, …: the transcript in short. */
export async function spoken(run: Pick<AgentRun, 'messages'>): Promise<readonly string[]> {
  return (await messagesOf(run)).map((message) => `${message.role}: ${textOfMessage(message)}`);
}

export function textOfMessage(message: Message): string {
  return 'text' in message ? message.text : textOf(message.content);
}

export async function eventTypesOf(
  run: Pick<AgentRun, 'loggedEvents'>,
): Promise<readonly string[]> {
  return (await eventsOf(run)).map(({ type }) => type);
}

/** No invariant is broken, the history replays, and the model was asked nothing it had no answer for. */
export async function expectSound(
  world: AgentWorld,
  run: AnyRun,
  expected: Partial<SessionRecord> = {},
): Promise<void> {
  expect(await violationsOf(world, run, expected)).toEqual([]);
  expect(world.model.faults).toEqual([]);
}

/** Everything the history holds, as text: names, and payloads decoded. */
export async function historyText(
  world: Pick<AgentWorld, 'client'>,
  run: Pick<AgentRun, 'workflowId'>,
): Promise<string> {
  const history = await world.client.temporal.workflow.getHandle(run.workflowId).fetchHistory();
  const parts: string[] = [];
  collect(history, parts);
  return parts.join('\n');
}

function collect(value: unknown, parts: string[]): void {
  if (typeof value === 'string') parts.push(value);
  else if (value instanceof Uint8Array) parts.push(Buffer.from(value).toString('utf8'));
  else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      parts.push(name);
      collect(item, parts);
    }
  }
}

export function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}

export interface ScheduledActivity {
  readonly type: string;
  readonly input: unknown;
  readonly summary?: string;
  readonly heartbeatSeconds: number;
  readonly startToCloseSeconds: number;
  readonly scheduleToCloseSeconds: number;
  /** 0: without end. */
  readonly maximumAttempts: number;
}

/** Activity types in the order they were scheduled, with what each was given. */
export async function scheduled(
  world: AgentWorld,
  run: Pick<AgentRun, 'workflowId'>,
): Promise<readonly ScheduledActivity[]> {
  const handle = world.client.temporal.workflow.getHandle(run.workflowId);
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap((event) => {
    const attributes = event.activityTaskScheduledEventAttributes;
    if (attributes == null) return [];
    const [input] = attributes.input?.payloads ?? [];
    const summary = event.userMetadata?.summary;
    return [
      {
        type: attributes.activityType?.name ?? '',
        input: parsed(input?.data),
        heartbeatSeconds: seconds(attributes.heartbeatTimeout),
        startToCloseSeconds: seconds(attributes.startToCloseTimeout),
        scheduleToCloseSeconds: seconds(attributes.scheduleToCloseTimeout),
        maximumAttempts: attributes.retryPolicy?.maximumAttempts ?? 0,
        ...(summary == null ? {} : { summary: parsed(summary.data) as string }),
      },
    ];
  });
}

function seconds(duration: { readonly seconds?: unknown } | null | undefined): number {
  return Number(duration?.seconds ?? 0);
}

function parsed(data: Uint8Array | null | undefined): unknown {
  return data == null ? undefined : JSON.parse(Buffer.from(data).toString('utf8'));
}

export function sessionOf(
  world: AgentWorld,
  input: Omit<Parameters<AgentWorld['client']['start']>[0] & object, 'lifetime'> = {},
): Promise<AgentRun<AgentSessionResult>> {
  return world.client.start({ ...input, lifetime: 'session' });
}
