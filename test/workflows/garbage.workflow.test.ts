// What anyone who may start or signal a workflow can send: nothing of it fails the workflow, wedges it or
// loses what was sent before.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { signalKinds } from '../../src/protocol/events.js';
import { agentInputProblem } from '../../src/protocol/agent-input.js';
import { reply } from '../../src/testing/scripted-model.js';
import { brokenInputs } from '../support/broken-inputs.js';
import { createAgentWorld, eventsOf, messagesOf, violationsOf } from '../support/agent-world.js';
import type { AgentWorld } from '../support/agent-world.js';

interface RawPayload {
  readonly metadata: { readonly [name: string]: Uint8Array };
  readonly data: Uint8Array;
}

const bytes = (text: string) => new TextEncoder().encode(text);

const payload = (
  encoding: string | undefined,
  data: string,
  more: Record<string, string> = {},
): RawPayload => ({
  metadata: {
    ...(encoding === undefined ? {} : { encoding: bytes(encoding) }),
    ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, bytes(value)])),
  },
  data: bytes(data),
});

/** A payload that claims to be a reference into external storage. */
const reference = (data: string) =>
  payload('json/protobuf', data, { messageType: 'temporal.api.sdk.v1.ExternalStorageReference' });

const undecodable: readonly (readonly [string, RawPayload])[] = [
  ['no JSON', payload('json/plain', '{"text": ')],
  ['an unknown encoding', payload('json/encrypted-by-nobody', 'x')],
  ['no encoding', payload(undefined, '"x"')],
  ['binary', payload('binary/plain', '\u0000\u0001')],
  ['a protobuf nobody knows', payload('binary/protobuf', 'x', { messageType: 'nobody.Knows' })],
  ['a JSON protobuf nobody knows', payload('json/protobuf', '{}', { messageType: 'nobody.Knows' })],
  ['a reference into external storage', reference('{"driverName":"s3","claimData":{"key":"x"}}')],
];

describe('garbage', () => {
  let world: AgentWorld;
  beforeAll(async () => {
    world = await createAgentWorld({ script: () => reply.text('Understood.') });
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });

  const signalRaw = (workflowId: string, signalName: string, payloads: readonly RawPayload[]) =>
    world.client.temporal.workflowService.signalWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId },
      signalName,
      requestId: randomUUID(),
      input: { payloads: [...payloads] },
    });

  async function startRaw(payloads: readonly RawPayload[]): Promise<string> {
    const workflowId = randomUUID();
    await world.client.temporal.workflowService.startWorkflowExecution({
      namespace: 'default',
      workflowId,
      workflowType: { name: 'agent' },
      taskQueue: { name: world.taskQueue },
      requestId: randomUUID(),
      input: { payloads: [...payloads] },
    });
    return workflowId;
  }

  const startSession = () => world.client.start({ lifetime: 'session' });

  /** The session still answers a prompt. */
  async function expectAlive(session: Awaited<ReturnType<typeof startSession>>): Promise<void> {
    expect(await session.submit('prompt', 'Still there?')).toEqual({ outcome: 'started' });
    await vi.waitFor(async () => expect((await session.state()).status).toBe('idle'), 20_000);
    expect((await session.response())?.content).toBe('Understood.');
  }

  test.each(undecodable)(
    'a signal whose argument is %s is recorded as rejected, for every kind',
    async (_, argument) => {
      const session = await startSession();
      for (const kind of signalKinds) {
        // A close or continue without a usable argument is still understood as one: its argument is not read.
        await signalRaw(session.workflowId, kind, [argument]);
      }
      await vi.waitFor(async () => {
        const rejected = (await eventsOf(session)).filter(({ type }) => type === 'rejected');
        expect(rejected.map((event) => 'kind' in event && event.kind)).toEqual([...signalKinds]);
      }, 20_000);
      await expectAlive(session);
      expect(await violationsOf(world, session)).toEqual([]);
      await session.close();
      await session.result();
    },
  );

  test('arguments beyond the first are never decoded', async () => {
    const session = await startSession();
    await signalRaw(session.workflowId, 'steer', [
      payload('json/plain', '"Hello"'),
      ...undecodable.map(([, argument]) => argument),
    ]);
    await expectAlive(session);
    expect((await messagesOf(session)).map(({ role }) => role)).toEqual([
      'user',
      'user',
      'assistant',
    ]);
  });

  test.each(undecodable)(
    'a workflow whose input is %s fails at once with InvalidInput',
    async (_, argument) => {
      const run = world.client.get(await startRaw([argument]));
      await expect(run.result()).rejects.toThrow(/^.*input: /);
    },
  );

  test('further undecodable inputs beside a good one are ignored', async () => {
    const run = world.client.get(
      await startRaw([
        payload('json/plain', '"Hello"'),
        ...undecodable.map(([, argument]) => argument),
      ]),
    );
    expect((await run.result()).response?.content).toBe('Understood.');
  });

  test('a known limit: a malformed reference into external storage is refused by the SDK, before any handler, until the signal is reset away', async () => {
    const session = await startSession();
    await signalRaw(session.workflowId, 'steer', [reference('{"driverName":""}')]);
    await vi.waitFor(async () => {
      const history = await world.client.temporal.workflow
        .getHandle(session.workflowId)
        .fetchHistory();
      const failed = history.events?.find(
        (event) => event.workflowTaskFailedEventAttributes != null,
      );
      expect(failed?.workflowTaskFailedEventAttributes?.failure?.message).toContain('driverName');
    }, 20_000);
    await world.client.temporal.workflow.getHandle(session.workflowId).terminate();
  });

  test('signals nobody knows stay without effect', async () => {
    const session = await startSession();
    for (const [, argument] of undecodable)
      await signalRaw(session.workflowId, 'nonsense', [argument]);
    await signalRaw(session.workflowId, '__proto__', []);
    await expectAlive(session);
    expect((await eventsOf(session)).map(({ type }) => type)).not.toContain('rejected');
  });

  test('updates and queries with arguments nobody can decode are answered', async () => {
    const session = await startSession();
    const handle = world.client.temporal.workflow.getHandle(session.workflowId);
    for (const [, argument] of undecodable) {
      const answer = await world.client.temporal.workflowService.queryWorkflow({
        namespace: 'default',
        execution: { workflowId: session.workflowId },
        query: { queryType: 'state', queryArgs: { payloads: [argument] } },
      });
      expect(answer.queryResult?.payloads).toHaveLength(1);
    }
    for (const input of [
      null,
      5,
      'steer',
      {},
      { kind: 'nonsense' },
      { kind: 'steer' },
      { kind: 'steer', message: 7 },
    ]) {
      const outcome = await handle.executeUpdate('submit', { args: [input] });
      expect(outcome).toMatchObject({ outcome: 'rejected' });
    }
    await expect(handle.executeUpdate('nonsense', { args: [] })).rejects.toThrow(
      'Workflow Update failed',
    );
    for (const query of [
      null,
      'x',
      -1,
      { after: 'x', from: 1e300, limit: 0, offset: -5, digest: 7 },
    ]) {
      for (const name of ['state', 'events', 'messages', 'response']) {
        await handle.query(name, query);
      }
    }
    await expectAlive(session);
  });

  test('a message too large for a signal is refused with a sentence that says what to do', async () => {
    const session = await startSession();
    await expect(session.steer('x'.repeat(3_000_000))).rejects.toThrow(/too large|bytes/i);
    await expectAlive(session);
  });

  test('200 broken inputs each fail at once with a sentence that names a field', async () => {
    expect(brokenInputs.length).toBeGreaterThanOrEqual(200);
    const failures = await Promise.all(
      brokenInputs.map(async (input) => {
        const problem = agentInputProblem(JSON.parse(JSON.stringify(input ?? null)));
        expect(problem).toMatch(/^([\w.[\]]+|".*"): .+\.$/s);
        const handle = await world.client.temporal.workflow.start('agent', {
          taskQueue: world.taskQueue,
          workflowId: randomUUID(),
          args: [input],
        });
        return handle.result().then(
          () => undefined,
          (error: { readonly cause?: { readonly type?: string } }) => error.cause?.type,
        );
      }),
    );
    expect(failures).toEqual(brokenInputs.map(() => 'InvalidInput'));
  });
});
