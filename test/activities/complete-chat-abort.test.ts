import { ActivityCancellationDetails } from '@temporalio/common';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { FailureType } from '../../src/protocol/failure-types.js';
import { toolCallsOf, zeroUsage } from '../../src/protocol/messages.js';
import { maxTailBytes } from '../../src/protocol/live-views.js';
import type { ModelProgress } from '../../src/protocol/live-views.js';
import { chunk, reply, startScriptedModel, step } from '../../src/testing/scripted-model.js';
import type { ScriptedModel, ScriptedReply } from '../../src/testing/scripted-model.js';
import { failureOf, fakeSource, keyValue, setUpCall, weatherTool } from './model/model-fixtures.js';
import type { CallSetUp } from './model/model-fixtures.js';

let model: ScriptedModel | undefined;

afterEach(async () => {
  await model?.close();
  model = undefined;
});

async function start(scripted: ScriptedReply, setUp: CallSetUp = {}) {
  model = await startScriptedModel([scripted]);
  const activity = setUpCall(model.baseURL, { tools: [weatherTool], ...setUp });
  const running = activity.run();
  running.catch(() => {});
  return { running, model, ...activity };
}

/** A busy machine may need longer than vitest's second. */
const waitFor = (check: () => void) => vi.waitFor(check, 10_000);

const lastView = (heartbeats: readonly unknown[]) => heartbeats.at(-1) as ModelProgress | undefined;

const shutdown = new ActivityCancellationDetails({ workerShutdown: true });

const nothing = {
  message: {
    role: 'assistant',
    content: [],
    provider: 'scripted',
    model: 'scripted-1',
    usage: zeroUsage,
    stopReason: 'aborted',
  },
  prepared: [],
};

describe('completeChat: abort', () => {
  test('closes the HTTP request and returns what had arrived as an aborted message', async () => {
    const half = chunk.toolCalls({
      index: 0,
      id: 'a',
      function: { name: 'getWeather', arguments: '{"city":"Ban' },
    });
    const { running, environment, heartbeats, source, model } = await start(
      reply.raw([chunk.reasoning('Hm.'), chunk.text('Let me '), half, step.hang]),
    );
    await waitFor(() => expect(lastView(heartbeats)?.text.tail).toBe('Let me '));
    environment.cancel('CANCELLED');
    const { message, prepared } = await running;
    expect(message.stopReason).toBe('aborted');
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Let me ' },
      { type: 'toolCall', id: 'a', arguments: {}, argumentsError: { raw: '{"city":"Ban' } },
    ]);
    expect(prepared, 'its tool calls are not executed').toEqual([]);
    expect(source.remembered).toEqual([message]);
    expect(await model.requests[0]?.ended).toBe('left');
  });

  test('L12: cancel works on a stream that never ends', async () => {
    const { running, environment, heartbeats, model } = await start(reply.endless('la ', 5));
    await waitFor(() => expect(lastView(heartbeats)?.text.tail).toContain('la '));
    environment.cancel('CANCELLED');
    expect((await running).message.stopReason).toBe('aborted');
    expect(await model.requests[0]?.ended).toBe('left');
  });

  test('before the first byte nothing had arrived: an aborted message without content', async () => {
    const { running, environment, model } = await start(reply.hang());
    const request = await model.request(0);
    environment.cancel('CANCELLED');
    expect(await running).toEqual(nothing);
    expect(await request.ended).toBe('left');
  });

  test.each(['transformContext', 'convertToLlm', 'getApiKey'] as const)(
    'L36: during the hook %s, which ignores it, the call is aborted and no request is made',
    async (name) => {
      let entered = () => {};
      const inHook = new Promise<void>((resolve) => (entered = resolve));
      const hooks = {
        [name]: () => {
          entered();
          return new Promise<never>(() => {});
        },
      };
      const { running, environment, model } = await start(reply.text('never asked for'), { hooks });
      await inHook;
      environment.cancel('CANCELLED');
      expect(await running).toEqual(nothing);
      expect(model.requests).toEqual([]);
    },
  );

  test('L36: a key lookup that rejects because of the abort is an abort, not an error', async () => {
    const hooks = {
      getApiKey: ({ signal }: { readonly signal: AbortSignal }) =>
        new Promise<string>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('login cancelled')));
        }),
    };
    const { running, environment } = await start(reply.text('never asked for'), { hooks });
    environment.cancel('CANCELLED');
    expect(await running).toEqual(nothing);
  });

  test('while the conversation is loaded the call is aborted', async () => {
    const source = fakeSource(() => new Promise(() => {}));
    const { running, environment } = await start(reply.text('never asked for'), { source });
    environment.cancel('CANCELLED');
    expect(await running).toEqual(nothing);
  });

  test('an aborted answer too large for a payload is cut to fit', async () => {
    const { running, environment, heartbeats } = await start(
      reply.raw([chunk.text('\u0001'.repeat(400_000)), step.hang]),
    );
    await waitFor(() => expect(lastView(heartbeats)?.text.offset).toBeGreaterThan(0));
    environment.cancel('CANCELLED');
    const { message } = await running;
    expect(JSON.stringify(message).length).toBeLessThan(1_800_000);
    expect(toolCallsOf(message)).toEqual([]);
    expect(message.content[0]).toMatchObject({ type: 'text' });
  });

  test('a worker that shuts down fails retryably instead, and closes the request', async () => {
    const { running, environment, model } = await start(reply.raw([chunk.text('a'), step.hang]));
    const request = await model.request(0);
    environment.cancel('WORKER_SHUTDOWN', shutdown);
    expect(await failureOf(running)).toMatchObject({
      type: FailureType.WorkerShuttingDown,
      nonRetryable: false,
    });
    expect(await request.ended).toBe('left');
  });

  test('a pause fails retryably too', async () => {
    const { running, environment, model } = await start(reply.hang());
    await model.request(0);
    environment.cancel('PAUSED', new ActivityCancellationDetails({ paused: true }));
    expect(await failureOf(running)).toMatchObject({ type: FailureType.WorkerShuttingDown });
  });
});

describe('completeChat: live view', () => {
  test('shows text and reasoning as they stream, with attempt and earlier failures', async () => {
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const { running, heartbeats } = await start(
      reply.raw([
        chunk.reasoning('Let me see.'),
        chunk.text('Hel'),
        step.until(gate),
        chunk.text('lo'),
        chunk.finish('stop'),
      ]),
      { info: { attempt: 2, heartbeatDetails: { kind: 'model', providerFailures: 1 } } },
    );
    await waitFor(() =>
      expect(lastView(heartbeats)).toEqual({
        kind: 'model',
        turn: 3,
        attempt: 2,
        text: { offset: 0, tail: 'Hel' },
        thinking: { offset: 0, tail: 'Let me see.' },
        providerFailures: 1,
      }),
    );
    goOn();
    expect((await running).message.content.at(-1)).toEqual({ type: 'text', text: 'Hello' });
  });

  test('a key is not shown, neither half streamed nor cut by the bound of the tail', async () => {
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const half = Math.floor(keyValue.length / 2);
    const { running, environment, heartbeats } = await start(
      reply.raw([
        chunk.text(`It is ${keyValue.slice(0, half)}`),
        step.until(gate),
        chunk.text(`${keyValue.slice(half)}!${'x'.repeat(maxTailBytes - 5)}`),
        step.hang,
      ]),
    );
    await waitFor(() => expect(lastView(heartbeats)?.text.tail).toBe('It is '));
    goOn();
    await waitFor(() => expect(lastView(heartbeats)?.text.offset).toBeGreaterThan(0));
    expect(lastView(heartbeats)?.text.tail).toMatch(/^[^s]{0,4}!x+$/);
    expect(JSON.stringify(heartbeats)).not.toContain(keyValue.slice(-4));
    environment.cancel('CANCELLED');
    await running;
  });

  test('its tail is at most 8 KB and says how much came before', async () => {
    const text = 'é'.repeat(20_000);
    const { running, environment, heartbeats } = await start(
      reply.raw([chunk.text(text), step.hang]),
    );
    await waitFor(() => expect(lastView(heartbeats)?.text.offset).toBeGreaterThan(0));
    const view = lastView(heartbeats)?.text;
    expect(view?.tail).toBe('é'.repeat(4096));
    expect(view?.offset).toBe(20_000 - 4096);
    environment.cancel('CANCELLED');
    await running;
  });
});
