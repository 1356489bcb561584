import { fileURLToPath } from 'node:url';
import { Client, Connection, WorkflowFailedError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
} from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { createCompleteChat } from '../../src/activities/complete-chat.js';
import { FailureType } from '../../src/protocol/failure-types.js';
import { maxModelAttempts } from '../../src/protocol/limits.js';
import type { ModelProgress } from '../../src/protocol/live-views.js';
import { chunk, reply, startScriptedModel, step } from '../../src/testing/scripted-model.js';
import type { Script, ScriptedModel } from '../../src/testing/scripted-model.js';
import { completeChatInput, setUpCall } from './model/model-fixtures.js';
import type { modelCall } from './model-call-workflow.js';
import '../support/provided.js';

const workflowsPath = fileURLToPath(new URL('model-call-workflow.ts', import.meta.url));

Runtime.install({ logger: new DefaultLogger('ERROR', () => {}) });

let native: NativeConnection;
let workflowBundle: { readonly code: string };
let client: Client;

beforeAll(async () => {
  const address = inject('serverAddress');
  native = await NativeConnection.connect({ address });
  client = new Client({ connection: await Connection.connect({ address }) });
  workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: Runtime.instance().logger });
});

afterAll(async () => {
  await native.close();
  await client.connection.close();
});

type Handle = WorkflowHandle<typeof modelCall>;

/** Runs a worker and one workflow with one model call against the script. */
async function withModelCall(
  script: Script,
  body: (handle: Handle, model: ScriptedModel) => Promise<void>,
): Promise<void> {
  const model = await startScriptedModel(script);
  const taskQueue = `test-${crypto.randomUUID()}`;
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowBundle,
    activities: { completeChat: createCompleteChat(setUpCall(model.baseURL).dependencies) },
    maxHeartbeatThrottleInterval: '250ms',
  });
  await worker.runUntil(async () => {
    const handle: Handle = await client.workflow.start<typeof modelCall>('modelCall', {
      workflowId: taskQueue,
      taskQueue,
      args: [completeChatInput],
    });
    await body(handle, model);
  });
  await model.close();
}

async function pendingActivity(handle: Handle) {
  const { raw } = await handle.describe();
  return raw.pendingActivities?.[0];
}

/** Heartbeat details of the pending activity. */
async function liveView(handle: Handle): Promise<ModelProgress | undefined> {
  const payload = (await pendingActivity(handle))?.heartbeatDetails?.payloads?.[0];
  return payload == null ? undefined : defaultPayloadConverter.fromPayload<ModelProgress>(payload);
}

/** Waits until the server itself names this delay before the next attempt. */
async function nextDelay(handle: Handle, attempt: number, seconds: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const activity = await pendingActivity(handle);
      expect(activity?.attempt).toBe(attempt);
      expect(activity?.currentRetryInterval?.seconds?.toString()).toBe(String(seconds));
    },
    { timeout: 10_000, interval: 50 },
  );
}

const wait = (milliseconds: number) => ({ 'retry-after-ms': String(milliseconds) });

describe('completeChat on a server', () => {
  test('the count of provider failures survives failed attempts; the sixth is final', async () => {
    // Attempts end before the first heartbeat, just after it and between two.
    const script = Array.from({ length: maxModelAttempts }, (_, n) => {
      const { steps, ...head } = reply.status(503, `busy ${n + 1}`, wait(20));
      return { ...head, steps: [step.wait(n * 105), ...steps] };
    });
    await withModelCall(script, async (handle, model) => {
      const { failure } = await handle.result();
      expect(failure?.type).toBe(FailureType.ModelUnavailable);
      expect(failure?.message).toContain('busy 6');
      expect(model.requests).toHaveLength(maxModelAttempts);
    });
  });

  test('the server waits as long as the provider asked, though the policy says a second', async () => {
    const script = [
      reply.status(429, 'slow down', { 'retry-after': '3' }),
      reply.status(429, 'slow down', wait(50)),
      reply.text('Hello'),
    ];
    await withModelCall(script, async (handle) => {
      await nextDelay(handle, 2, 3);
      expect(await liveView(handle)).toMatchObject({
        attempt: 1,
        providerFailures: 1,
        retry: { delayMs: 3000, reason: 'The provider answered HTTP 429: slow down' },
      });
      const { result } = await handle.result();
      expect(result?.message).toMatchObject({ attempts: 3, stopReason: 'stop' });
    });
  });

  test('without a Retry-After the delays double from one second', async () => {
    const script = [reply.status(500), reply.status(500), reply.text('Hello')];
    await withModelCall(script, async (handle) => {
      await nextDelay(handle, 2, 1);
      await nextDelay(handle, 3, 2);
      const { result } = await handle.result();
      expect(result?.message.attempts).toBe(3);
    });
  });

  test('cancellation closes the request and the workflow gets what had arrived', async () => {
    await withModelCall([reply.raw([chunk.text('Once'), step.hang])], async (handle, model) => {
      await vi.waitFor(
        async () => expect((await liveView(handle))?.text.tail).toBe('Once'),
        15_000,
      );
      await handle.cancel();
      const { result } = await handle.result();
      expect(result).toMatchObject({
        message: { stopReason: 'aborted', content: [{ type: 'text', text: 'Once' }] },
        prepared: [],
      });
      expect(await model.requests[0]?.ended).toBe('left');
    });
  });

  test('L18: cancellation works in a retry back-off and in the second attempt', async () => {
    await withModelCall([reply.status(503, 'busy', { 'retry-after': '200' })], async (handle) => {
      await vi.waitFor(async () => expect((await liveView(handle))?.retry).toBeDefined(), 15_000);
      await handle.cancel();
      await expect(handle.result()).rejects.toBeInstanceOf(WorkflowFailedError);
    });
    const script = [reply.status(503, 'busy', wait(20)), reply.raw([chunk.text('b'), step.hang])];
    await withModelCall(script, async (handle) => {
      await vi.waitFor(async () => expect((await liveView(handle))?.text.tail).toBe('b'), 15_000);
      await handle.cancel();
      const { result } = await handle.result();
      expect(result?.message).toMatchObject({ stopReason: 'aborted', attempts: 2 });
    });
  });
});
