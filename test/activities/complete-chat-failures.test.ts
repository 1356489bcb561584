import { ApplicationFailure } from '@temporalio/activity';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createCompleteChat } from '../../src/activities/complete-chat.js';
import { FailureType } from '../../src/protocol/failure-types.js';
import { maxModelAttempts } from '../../src/protocol/limits.js';
import { chunk, reply, startScriptedModel, step } from '../../src/testing/scripted-model.js';
import type { ScriptedModel, ScriptedReply } from '../../src/testing/scripted-model.js';
import {
  completeChatInput,
  failureOf,
  fakeSource,
  keyValue,
  setUpCall,
  user,
  weatherTool,
} from './model/model-fixtures.js';
import type { CallSetUp } from './model/model-fixtures.js';

let model: ScriptedModel | undefined;

afterEach(async () => {
  await model?.close();
  model = undefined;
});

async function failWith(scripted: ScriptedReply, setUp: CallSetUp = {}) {
  model = await startScriptedModel([scripted]);
  const activity = setUpCall(model.baseURL, { tools: [weatherTool], ...setUp });
  const failure = await failureOf(activity.run());
  return { failure, ...activity };
}

const retried = { type: FailureType.ModelUnavailable, nonRetryable: false };
const rejected = { type: FailureType.ModelRequestRejected, nonRetryable: true };

describe('completeChat: HTTP errors', () => {
  test.each([408, 409, 425, 429, 500, 502, 503, 504, 529])('HTTP %i is retried', async (status) => {
    const { failure } = await failWith(reply.status(status, { error: { message: 'not now' } }));
    expect(failure).toMatchObject({ ...retried, nextRetryDelay: 1000 });
    expect(failure.message).toBe(`The provider answered HTTP ${status}: not now`);
    expect(model?.requests, 'one retry layer: the client itself asks once').toHaveLength(1);
  });

  test.each([400, 401, 402, 403, 404, 413, 422])('HTTP %i is final', async (status) => {
    const { failure } = await failWith(reply.status(status, { error: { message: 'no' } }));
    expect(failure).toMatchObject(rejected);
    expect(failure.message).toBe(`The provider answered HTTP ${status}: no`);
  });

  test('L19: a 429 for quota is final at once', async () => {
    const error = { message: 'You exceeded your current quota.', code: 'insufficient_quota' };
    const { failure } = await failWith(reply.status(429, { error }));
    expect(failure).toMatchObject(rejected);
  });

  test('L20: a Retry-After beyond five minutes fails at once and says why', async () => {
    const { failure } = await failWith(
      reply.status(429, { error: { message: 'slow down' } }, { 'retry-after': '18000' }),
    );
    expect(failure).toMatchObject({ type: FailureType.ModelUnavailable, nonRetryable: true });
    expect(failure.message).toContain('slow down');
    expect(failure.message).toContain('It asks to wait 5 hours, longer than the 5 minutes');
  });

  test.each([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['milliseconds', { 'retry-after-ms': '1500', 'retry-after': '7' }, 1500],
    ['the cap', { 'retry-after': '300' }, 300_000],
    ['nothing readable', { 'retry-after': 'soon' }, 4000],
    ['no time at all', { 'retry-after': '0' }, 4000],
    ['nothing', {}, 4000],
  ])('the next delay honours a Retry-After of %s', async (_name, headers, delay) => {
    const { failure } = await failWith(
      reply.status(503, 'busy', headers as { [name: string]: string }),
      {
        info: { attempt: 3, heartbeatDetails: { kind: 'model', providerFailures: 2 } },
      },
    );
    expect(failure).toMatchObject({ ...retried, nextRetryDelay: delay });
  });

  test('L21: a context overflow is its own final failure', async () => {
    const error = { message: "This model's maximum context length is 128000 tokens." };
    const { failure } = await failWith(reply.status(400, { error }));
    expect(failure).toMatchObject({ type: FailureType.ContextLengthExceeded, nonRetryable: true });
    expect(failure.message).toContain('maximum context length is 128000 tokens');
  });

  test('L21: an empty 400 is a rejection, not an overflow', async () => {
    const { failure } = await failWith(reply.status(400));
    expect(failure).toMatchObject(rejected);
  });

  test('too many tokens per minute is throttling, not overflow', async () => {
    const error = { message: 'Too many tokens per minute: reduce the length of the messages.' };
    expect((await failWith(reply.status(429, { error }))).failure).toMatchObject(retried);
    await model?.close();
    expect((await failWith(reply.status(400, { error }))).failure).toMatchObject(rejected);
  });

  test.each([
    ['a message beside the error', { message: 'prompt is too long' }],
    ['a detail', { detail: 'prompt is too long' }],
    ['a list', [{ error: { message: 'prompt is too long' } }]],
    ['plain text', 'prompt is too long'],
    [
      'what the upstream provider said',
      { error: { message: 'Provider returned error', metadata: { raw: 'prompt is too long' } } },
    ],
  ])('an error body that is %s is read', async (_name, body) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const { failure } = await failWith(reply.status(400, text));
    expect(failure.type).toBe(FailureType.ContextLengthExceeded);
  });

  test('an HTML error page becomes a short text', async () => {
    const page = `<html><style>b {}</style><body><h1>502 Bad Gateway</h1>${' '.repeat(9000)}</body></html>`;
    const { failure } = await failWith(reply.status(502, page));
    expect(failure.message).toBe('The provider answered HTTP 502: 502 Bad Gateway');
  });

  test('a long error is cut, so that Temporal keeps it whole', async () => {
    const { failure } = await failWith(reply.status(400, { error: { message: 'é'.repeat(9000) } }));
    expect(Buffer.byteLength(failure.message)).toBeLessThan(800);
  });
});

describe('completeChat: connections and streams', () => {
  test('a refused connection is retried', async () => {
    const stopped = await startScriptedModel([]);
    await stopped.close();
    const failure = await failureOf(setUpCall(stopped.baseURL).run());
    expect(failure).toMatchObject(retried);
    expect(failure.message).toContain('ECONNREFUSED');
  });

  test('a connection closed before the answer is retried', async () => {
    const { failure } = await failWith(reply.cut());
    expect(failure).toMatchObject(retried);
  });

  test('L8: a stream that ends inside call arguments is retried, nothing is executed', async () => {
    const opened = chunk.toolCalls({
      index: 0,
      id: 'a',
      function: { name: 'getWeather', arguments: '{"city":"B"' },
    });
    const { failure, source } = await failWith(reply.raw([opened]));
    expect(failure).toMatchObject(retried);
    expect(failure.message).toContain('without a finish reason');
    expect(source.remembered).toEqual([]);
  });

  test('L8: a whole call whose stream has no finish reason is retried', async () => {
    const whole = chunk.toolCalls({
      index: 0,
      id: 'a',
      function: { name: 'getWeather', arguments: '{"city":"B"}' },
    });
    expect((await failWith(reply.raw([whole, chunk.done]))).failure).toMatchObject(retried);
  });

  test('a socket cut in mid-answer is retried', async () => {
    const { failure } = await failWith(reply.raw([chunk.text('Hel'), chunk.text('lo'), step.cut]));
    expect(failure).toMatchObject(retried);
  });

  test('L10: announced tool calls that never come are retried', async () => {
    const { failure } = await failWith(
      reply.text('Let me look that up.', { finishReason: 'tool_calls' }),
    );
    expect(failure).toMatchObject(retried);
    expect(failure.message).toContain('announces tool calls');
  });

  test.each([
    ['nothing', {}],
    ['white space', { text: ' \n' }],
    ['reasoning alone', { reasoning: 'Hm.' }],
    ['reasoning up to the output limit', { reasoning: 'Hm.', finishReason: 'length' }],
  ])('L11: an empty answer of %s is retried', async (_name, answer) => {
    const { failure } = await failWith(reply.answer(answer));
    expect(failure).toMatchObject(retried);
    expect(failure.message).toContain('The answer is empty');
  });

  test.each([
    { code: 502, message: 'Provider returned error' },
    { type: 'overloaded_error', message: 'Overloaded' },
    { code: 'server_error', message: 'Something went wrong' },
    { message: 'Connection closed.' },
    { message: 'ECONNRESET' },
    { message: 'Network connection lost.' },
    { message: 'socket hang up' },
    {},
  ])('L13, L37: an error event after two deltas is retried: %o', async (error) => {
    const { failure, source } = await failWith(
      reply.raw([chunk.text('a'), chunk.text('b'), chunk.error(error)]),
    );
    expect(failure).toMatchObject(retried);
    expect(source.remembered, 'partial text is never taken for an answer').toEqual([]);
  });

  test.each([
    [{ code: 'insufficient_quota', message: 'Quota' }, FailureType.ModelRequestRejected],
    [{ type: 'invalid_request_error', message: 'Bad field' }, FailureType.ModelRequestRejected],
    [{ code: 401, message: 'No key' }, FailureType.ModelRequestRejected],
    [{ code: 'context_length_exceeded', message: 'Long' }, FailureType.ContextLengthExceeded],
  ])('an error inside the stream goes by its code: %o', async (error, type) => {
    const { failure } = await failWith(reply.raw([chunk.text('a'), chunk.error(error)]));
    expect(failure).toMatchObject({ type, nonRetryable: true });
  });

  test('an error event without the usual field is an error too', async () => {
    const { failure } = await failWith(
      reply.raw([{ object: 'error', message: 'engine died', code: 500 }, chunk.done]),
    );
    expect(failure).toMatchObject(retried);
    expect(failure.message).toContain('engine died');
  });

  test('a tool call without a name is malformed and retried', async () => {
    const nameless = chunk.toolCalls({ index: 0, id: 'a', function: { arguments: '{"x":1}' } });
    const { failure } = await failWith(reply.raw([nameless, chunk.finish('tool_calls')]));
    expect(failure).toMatchObject(retried);
    expect(failure.message).toContain('a tool call without a name');
  });

  test('an error that the provider reports after the finish reason counts', async () => {
    const { failure } = await failWith(
      reply.raw([chunk.text('a'), chunk.finish('stop'), chunk.error({ message: 'moderated' })]),
    );
    expect(failure).toMatchObject(retried);
  });

  test('a stream that is no JSON is retried', async () => {
    expect((await failWith(reply.raw(['data: <html>\n\n']))).failure).toMatchObject(retried);
  });

  test('an answer that the content filter stopped is final and says so', async () => {
    const { failure } = await failWith(reply.text('I ', { finishReason: 'content_filter' }));
    expect(failure).toMatchObject(rejected);
    expect(failure.message).toContain('content filter');
  });

  test('L12: no first token, silence and a call without end each fail with their own message', async () => {
    const clocks = { firstTokenMs: 5000, silenceMs: 5000, callMs: 5000 };
    const cases = [
      [reply.hang(), { firstTokenMs: 60 }, 'no first token within 0.06 seconds'],
      [
        reply.raw([step.headers, step.hang]),
        { firstTokenMs: 60 },
        'no first token within 0.06 seconds',
      ],
      [
        reply.raw([chunk.delta({ role: 'assistant', content: '' }), step.repeat(': ping\n\n', 5)]),
        { firstTokenMs: 60 },
        'no first token within 0.06 seconds',
      ],
      [reply.raw([chunk.text('a'), step.hang]), { silenceMs: 60 }, 'fell silent for 0.06 seconds'],
      [
        reply.raw([chunk.text('a'), step.repeat({ choices: [] }, 5)]),
        { silenceMs: 60 },
        'fell silent for 0.06 seconds',
      ],
      [reply.endless('a', 5), { callMs: 150 }, 'took longer than 0.15 seconds'],
    ] as const;
    for (const [scripted, overrides, text] of cases) {
      const { failure } = await failWith(scripted, {
        model: { clocks: { ...clocks, ...overrides } },
      });
      expect(failure).toMatchObject(retried);
      expect(failure.message).toContain(text);
      expect(await model?.requests[0]?.ended, 'the request is closed').toBe('left');
      await model?.close();
    }
  });

  test('the whole-call clock runs out before the time-out of the activity', async () => {
    const { failure } = await failWith(reply.endless('a', 5), {
      info: { startToCloseTimeoutMs: 400 },
    });
    expect(failure).toMatchObject(retried);
    expect(failure.message).toMatch(/took longer than 0\.3\d* seconds/);
  });

  test('tokens that keep coming keep the silence clock from running out', async () => {
    model = await startScriptedModel([reply.text('abcdefghij', { chunkSize: 1, delayMs: 40 })]);
    const clocks = { firstTokenMs: 400, silenceMs: 300, callMs: 10_000 };
    const { message } = await setUpCall(model.baseURL, { model: { clocks } }).run();
    expect(message.content).toEqual([{ type: 'text', text: 'abcdefghij' }]);
  });

  test('an answer that no payload can hold is closed as soon as that is known', async () => {
    const { failure } = await failWith(reply.endless('x'.repeat(200_000), 1));
    expect(failure).toMatchObject({ type: FailureType.ModelAnswerTooLarge, nonRetryable: true });
    expect(await model?.requests[0]?.ended).toBe('left');
  });

  test('an answer is measured as the payload it becomes', async () => {
    const { failure } = await failWith(reply.text('\u0001'.repeat(400_000)));
    expect(failure).toMatchObject({ type: FailureType.ModelAnswerTooLarge, nonRetryable: true });
  });
});

describe('completeChat: counting provider failures', () => {
  test('each failure is flushed with its count, reason and delay before it is thrown', async () => {
    const { failure, heartbeats } = await failWith(reply.status(503, 'busy'), {
      info: { attempt: 5, heartbeatDetails: { kind: 'model', providerFailures: 3 } },
    });
    expect(heartbeats.at(-1)).toEqual({
      kind: 'model',
      turn: 3,
      attempt: 5,
      text: { offset: 0, tail: '' },
      thinking: { offset: 0, tail: '' },
      providerFailures: 4,
      retry: { reason: failure.message, delayMs: 8000 },
    });
    expect(failure).toMatchObject({ ...retried, nextRetryDelay: 8000 });
  });

  test('the sixth provider failure is final', async () => {
    const { failure } = await failWith(reply.status(503, 'busy'), {
      info: {
        attempt: 9,
        heartbeatDetails: { kind: 'model', providerFailures: maxModelAttempts - 1 },
      },
    });
    expect(failure).toMatchObject({ type: FailureType.ModelUnavailable, nonRetryable: true });
    expect(failure.message).toContain('HTTP 503: busy');
    expect(failure.message).toContain('6 attempts failed');
  });

  test('attempts that other causes ended do not count', async () => {
    const { failure } = await failWith(reply.status(503, 'busy'), { info: { attempt: 40 } });
    expect(failure).toMatchObject({ ...retried, nextRetryDelay: 1000 });
  });

  test('heartbeat details of another shape count as none', async () => {
    const { failure } = await failWith(reply.status(503, 'busy'), {
      info: { attempt: 2, heartbeatDetails: ['x'] },
    });
    expect(failure).toMatchObject(retried);
  });
});

describe('completeChat: secrets and hooks', () => {
  test('no key, header value or key-bearing URL leaves in a failure', async () => {
    const header = 'value-of-the-secret-header';
    const message = `Key ${keyValue} (header ${header}) refused: https://me:password@host/v1?key=abcdef&x=1, Bearer abcdefghijkl, sk-proj-123456789`;
    const { failure, heartbeats } = await failWith(reply.status(503, { error: { message } }), {
      model: { headersEnv: { 'x-secret': 'SECRET_HEADER' } },
      environment: { SCRIPTED_API_KEY: keyValue, SECRET_HEADER: header },
    });
    const everything = JSON.stringify([
      failure.message,
      heartbeats,
      (failure as unknown as Error).stack,
    ]);
    for (const secret of [keyValue, header, 'password@', 'abcdef', 'proj-123456789']) {
      expect(everything).not.toContain(secret);
    }
    expect(failure.message).toContain('x=1');
  });

  test('a key in the base URL does not leave in a connection failure', async () => {
    const failure = await failureOf(
      setUpCall('http://user:hunter2hunter2@127.0.0.1:9/v1?api_key=topsecretkey').run(),
    );
    expect(JSON.stringify([failure.message])).not.toMatch(/hunter2|topsecretkey/);
  });

  test('a key that the model repeats is taken out of the message', async () => {
    model = await startScriptedModel([
      reply.toolCalls([{ name: 'getWeather', arguments: { city: keyValue } }], {
        text: `Your key is ${keyValue}.`,
      }),
    ]);
    const { run } = setUpCall(model.baseURL, { tools: [weatherTool] });
    expect(JSON.stringify(await run())).not.toContain(keyValue);
  });

  test('a key that the hook gave is known to the redactor before it is used', async () => {
    const key = 'rotated-key-of-the-hook';
    const { failure, dependencies } = await failWith(
      reply.status(401, { error: { message: `Wrong key ${key}` } }),
      { hooks: { getApiKey: () => key } },
    );
    expect(failure.message).not.toContain(key);
    expect(dependencies.redactor.redact(`a tool says ${key}`)).not.toContain(key);
  });

  test('what the client would read from the process environment does not leave', async () => {
    vi.stubEnv('OPENAI_ORG_ID', 'org-of-someone');
    vi.stubEnv('OPENAI_PROJECT_ID', 'project-of-someone');
    vi.stubEnv('OPENAI_ADMIN_KEY', 'admin-key-of-someone');
    model = await startScriptedModel([reply.text('a')]);
    await setUpCall(model.baseURL).run();
    vi.unstubAllEnvs();
    expect(JSON.stringify(model.requests[0]?.headers)).not.toContain('of-someone');
  });

  test('a key variable that this worker lacks is named, and another worker may have it', async () => {
    const failure = await failureOf(setUpCall('http://127.0.0.1:1/v1', { environment: {} }).run());
    expect(failure).toMatchObject({ type: FailureType.ModelUnavailable, nonRetryable: false });
    expect(failure.message).toContain('SCRIPTED_API_KEY');
  });

  test('getApiKey is asked on every call and goes before the environment; undefined falls back', async () => {
    model = await startScriptedModel([reply.text('a'), reply.text('b'), reply.text('c')]);
    const keys = ['first-rotated-key', 'second-rotated-key', undefined];
    const { baseURL } = model;
    for (const key of keys) await setUpCall(baseURL, { hooks: { getApiKey: () => key } }).run();
    expect(model.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first-rotated-key',
      'Bearer second-rotated-key',
      `Bearer ${keyValue}`,
    ]);
  });

  test('transformContext changes what this call sees and never the transcript', async () => {
    model = await startScriptedModel([reply.text('a')]);
    const transcript = [user('one'), user('two')];
    const { run } = setUpCall(model.baseURL, {
      transcript,
      hooks: {
        transformContext: (messages) => {
          (messages[1] as { content: string }).content = 'changed';
          return messages.slice(1);
        },
      },
    });
    await run();
    expect(model.requests[0]?.body.messages).toEqual([{ role: 'user', content: 'changed' }]);
    expect(transcript).toEqual([user('one'), user('two')]);
  });

  test('convertToLlm sees what transformContext made and replaces the conversion, the system prompt aside', async () => {
    model = await startScriptedModel([reply.text('a')]);
    const { run } = setUpCall(model.baseURL, {
      systemPrompt: 'Be brief.',
      hooks: {
        transformContext: async (messages) => [...messages, user('added')],
        convertToLlm: (messages) => [{ role: 'user', content: `${messages.length} messages` }],
      },
    });
    await run();
    expect(model.requests[0]?.body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: '2 messages' },
    ]);
  });

  test.each(['transformContext', 'convertToLlm', 'getApiKey'] as const)(
    'a throw of %s is a final failure that names the hook',
    async (name) => {
      const hooks = {
        [name]: () => {
          throw new Error('out of order https://host?key=abc');
        },
      };
      const failure = await failureOf(setUpCall('http://127.0.0.1:1/v1', { hooks }).run());
      expect(failure).toMatchObject({ type: FailureType.HookFailed, nonRetryable: true });
      expect(failure.message).toBe(
        `The hook ${name} threw: out of order https://host?key=[redacted]`,
      );
    },
  );

  test.each(['transformContext', 'convertToLlm', 'getApiKey'] as const)(
    'an answer of another type by %s is a final failure that names the hook',
    async (name) => {
      const hooks = { [name]: () => 7 };
      const failure = await failureOf(setUpCall('http://127.0.0.1:1/v1', { hooks }).run());
      expect(failure).toMatchObject({ type: FailureType.HookFailed, nonRetryable: true });
      expect(failure.message).toContain(`The hook ${name} answered`);
    },
  );

  test('messages of transformContext that cannot be sent are a final failure, not tried again for hours', async () => {
    const hooks = { transformContext: () => [{ role: 'user' }] as never };
    const failure = await failureOf(setUpCall('http://127.0.0.1:1/v1', { hooks }).run());
    expect(failure).toMatchObject({ type: FailureType.HookFailed, nonRetryable: true });
    expect(failure.message).toContain('The hook transformContext threw: ');
  });

  test('a conversation that cannot be loaded is no failure of the provider', async () => {
    const source = fakeSource(() =>
      Promise.reject(
        ApplicationFailure.create({ type: 'ConversationUnavailable', message: 'no answer' }),
      ),
    );
    const { run, heartbeats } = setUpCall('http://127.0.0.1:1/v1', { source });
    expect(await failureOf(run())).toMatchObject({
      type: 'ConversationUnavailable',
      message: 'no answer',
      nonRetryable: false,
    });
    expect(heartbeats).toEqual([]);
  });

  test('a fault of ours before the request is no failure of the provider', async () => {
    const source = fakeSource(() => Promise.reject(new TypeError('a bug')));
    const { run, heartbeats } = setUpCall('http://127.0.0.1:1/v1', { source });
    expect(await failureOf(run())).toMatchObject({ type: 'TypeError', message: 'a bug' });
    expect(heartbeats).toEqual([]);
  });

  test('a worker whose config lacks the model says so, for good', async () => {
    const { dependencies, environment } = setUpCall('http://127.0.0.1:1/v1');
    const activity = createCompleteChat(dependencies);
    const failure = await failureOf(
      environment.run(activity, { ...completeChatInput, model: 'other' }),
    );
    expect(failure).toMatchObject({ type: FailureType.InvalidInput, nonRetryable: true });
    expect(failure.message).toContain('model "other"');
  });
});
