import { afterEach, describe, expect, test } from 'vitest';
import type { CompleteChatResult } from '../../src/protocol/activities.js';
import { toolCallsOf } from '../../src/protocol/messages.js';
import { chunk, reply, startScriptedModel } from '../../src/testing/scripted-model.js';
import type { Script, ScriptedModel } from '../../src/testing/scripted-model.js';
import {
  assistant,
  call,
  keyValue,
  result,
  setUpCall,
  toolSpec,
  user,
  weatherTool,
} from './model/model-fixtures.js';
import type { CallSetUp } from './model/model-fixtures.js';

let model: ScriptedModel | undefined;

afterEach(async () => {
  await model?.close();
  model = undefined;
});

async function complete(script: Script, setUp: CallSetUp = {}) {
  model = await startScriptedModel(script);
  const activity = setUpCall(model.baseURL, setUp);
  const answer: CompleteChatResult = await activity.run();
  const [request] = model.requests;
  if (request === undefined) throw new Error('The model was not asked.');
  return { answer, request, ...activity };
}

describe('completeChat', () => {
  test('WT-010: posts system, user, assistant and tool messages and function tools to /v1/chat/completions', async () => {
    const { request } = await complete([reply.text('22 degrees.')], {
      systemPrompt: 'Be brief.',
      tools: [weatherTool],
      transcript: [
        user('What is the weather?'),
        assistant([call('call_1')]),
        result('call_1', '22°C'),
      ],
    });
    expect(request.path).toBe('/v1/chat/completions');
    expect(request.headers.authorization).toBe(`Bearer ${keyValue}`);
    expect(request.body).toEqual({
      model: 'scripted-1',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What is the weather?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'getWeather', arguments: '{"city":"Bangkok"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: '22°C' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'getWeather',
            description: 'The tool getWeather.',
            parameters: weatherTool.parameters,
          },
        },
      ],
    });
  });

  test('WT-011: a plain answer is a message with one text block and stop reason stop', async () => {
    const { answer, source } = await complete([
      reply.text("It's 22°C in Bangkok", { chunkSize: 3, usage: { input: 12, output: 7 } }),
    ]);
    expect(answer).toEqual({
      message: {
        role: 'assistant',
        content: [{ type: 'text', text: "It's 22°C in Bangkok" }],
        provider: 'scripted',
        model: 'scripted-1',
        usage: { input: 12, output: 7, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 19 },
        stopReason: 'stop',
        finishReason: 'stop',
        responseId: 'chatcmpl-scripted',
      },
      prepared: [],
    });
    expect(source.remembered).toEqual([answer.message]);
  });

  test('WT-012: reasoning_content and tool_calls become a thinking block and several tool calls', async () => {
    const { answer } = await complete(
      [
        reply.toolCalls(
          [
            { id: 'call_1', name: 'getWeather', arguments: { city: 'Bangkok' } },
            { id: 'call_2', name: 'getWeather', arguments: { city: 'Oslo', days: 2 } },
          ],
          { reasoning: 'I need to call getWeather…', chunkSize: 4 },
        ),
      ],
      { tools: [weatherTool] },
    );
    expect(answer.message.content).toEqual([
      { type: 'thinking', thinking: 'I need to call getWeather…', field: 'reasoning_content' },
      call('call_1'),
      call('call_2', 'getWeather', { city: 'Oslo', days: 2 }),
    ]);
    expect(answer.message.stopReason).toBe('toolUse');
    expect(answer.prepared).toEqual([{ kind: 'ready' }, { kind: 'ready' }]);
  });

  test.each(['stop', 'end_turn', 'tool_calls', 'something_new'])(
    'tool calls are taken from the content when the finish reason is %s',
    async (finishReason) => {
      const { answer } = await complete(
        [reply.toolCalls([{ name: 'getWeather', arguments: { city: 'Oslo' } }], { finishReason })],
        { tools: [weatherTool] },
      );
      expect(answer.message).toMatchObject({ stopReason: 'toolUse', finishReason });
      expect(answer.prepared).toHaveLength(1);
    },
  );

  test('a cut answer with calls has stop reason length and no call is prepared', async () => {
    const { answer } = await complete(
      [
        reply.toolCalls([{ name: 'getWeather', arguments: '{"city":"Ban' }], {
          finishReason: 'length',
        }),
      ],
      { tools: [weatherTool] },
    );
    expect(answer.message.stopReason).toBe('length');
    expect(toolCallsOf(answer.message)[0]).toMatchObject({
      arguments: {},
      argumentsError: { raw: '{"city":"Ban' },
    });
    expect(answer.prepared).toEqual([]);
  });

  test('arguments that do not parse are kept raw and the call is settled, not executed', async () => {
    const { answer } = await complete(
      [reply.toolCalls([{ name: 'getWeather', arguments: '{"city": Bangkok}' }])],
      { tools: [weatherTool] },
    );
    expect(toolCallsOf(answer.message)[0]?.argumentsError?.raw).toBe('{"city": Bangkok}');
    expect(answer.prepared[0]).toMatchObject({ kind: 'settled' });
  });

  test('missing, repeated and over-long call ids get unique ids against the whole transcript, the same in every attempt', async () => {
    const script = () => [
      reply.raw([
        chunk.toolCalls(
          { index: 0, id: 'call_1', function: { name: 'getWeather', arguments: '{"city":"A"}' } },
          { index: 1, id: '', function: { name: 'getWeather', arguments: '{"city":"B"}' } },
          { index: 2, id: 'fresh', function: { name: 'getWeather', arguments: '{"city":"C"}' } },
          { index: 3, id: 'fresh', function: { name: 'getWeather', arguments: '{"city":"D"}' } },
          {
            index: 4,
            id: 'l'.repeat(500),
            function: { name: 'getWeather', arguments: '{"city":"E"}' },
          },
        ),
        chunk.finish('tool_calls'),
        chunk.done,
      ]),
    ];
    const setUp = {
      tools: [weatherTool],
      transcript: [user('x'), assistant([call('call_1')]), result('call_1', 'y')],
      visible: [user('x')],
    };
    const first = await complete(script(), setUp);
    await model?.close();
    const second = await complete(script(), setUp);
    const calls = toolCallsOf(first.answer.message);
    expect(calls.map(({ arguments: args }) => args['city'])).toEqual(['A', 'B', 'C', 'D', 'E']);
    const ids = calls.map(({ id }) => id);
    expect(new Set([...ids, 'call_1']).size).toBe(6);
    expect(ids.every((id) => id.length <= 200)).toBe(true);
    expect(ids[2]).toBe('fresh');
    expect(toolCallsOf(second.answer.message).map(({ id }) => id)).toEqual(ids);
  });

  test('the message records how many attempts it took, when more than one', async () => {
    const { answer } = await complete([reply.text('a')], { info: { attempt: 4 } });
    expect(answer.message.attempts).toBe(4);
  });

  test('the cost comes from the configured prices', async () => {
    const usage = {
      choices: [],
      usage: {
        prompt_tokens: 1000,
        completion_tokens: 100,
        total_tokens: 1100,
        prompt_tokens_details: { cached_tokens: 400 },
        completion_tokens_details: { reasoning_tokens: 60 },
      },
    };
    const { answer } = await complete(
      [reply.raw([chunk.text('a'), chunk.finish('stop'), usage, chunk.done])],
      { model: { prices: { input: 2, output: 10, cacheRead: 0.5 } } },
    );
    expect(answer.message.usage).toEqual({
      input: 1000,
      output: 100,
      cacheRead: 400,
      cacheWrite: 0,
      reasoning: 60,
      total: 1100,
      cost: (600 * 2 + 400 * 0.5 + 100 * 10) / 1_000_000,
    });
  });

  test('a server that answers a streaming request with one JSON body is understood', async () => {
    const body = {
      id: 'whole',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    };
    const { answer } = await complete([reply.status(200, body)]);
    expect(answer.message).toMatchObject({
      content: [{ type: 'text', text: 'Hello' }],
      responseId: 'whole',
      usage: { input: 1, output: 2, total: 3 },
    });
  });

  test('<think> tags are split out of the content where the model is configured so', async () => {
    const { answer } = await complete(
      [reply.text('<think>Let me see.</think>\n\nHello', { chunkSize: 3 })],
      { model: { quirks: { thinkTags: true } } },
    );
    expect(answer.message.content).toEqual([
      { type: 'thinking', thinking: 'Let me see.' },
      { type: 'text', text: 'Hello' },
    ]);
  });

  test('large arguments are put into the cache under the value that will be executed', async () => {
    const city = 'x'.repeat(3000);
    const { source } = await complete(
      [
        reply.toolCalls([
          { id: 'a', name: 'getWeather', arguments: { city, days: '2' } },
          { id: 'b', name: 'getWeather', arguments: { city } },
          { id: 'c', name: 'getWeather', arguments: { city: 'small' } },
        ]),
      ],
      { tools: [weatherTool] },
    );
    expect(source.rememberedValues).toEqual([{ city, days: 2 }, { city }]);
  });

  test('headers come from the environment variables that the config names', async () => {
    const { request } = await complete([reply.text('a')], {
      model: { headersEnv: { 'x-team': 'TEAM_TOKEN' }, apiKeyEnv: 'KEY' },
      environment: { TEAM_TOKEN: 'team-token-value', KEY: 'the-key\n' },
    });
    expect(request.headers['x-team']).toBe('team-token-value');
    expect(request.headers.authorization).toBe('Bearer the-key');
  });

  test('a server without a key is asked without an authorization header', async () => {
    model = await startScriptedModel([reply.text('a')]);
    const { dependencies } = setUpCall(model.baseURL);
    const { apiKeyEnv: _apiKeyEnv, ...definition } = dependencies.config.models['default']!;
    const activity = setUpCall(model.baseURL, { environment: { OPENAI_API_KEY: 'not-this-one' } });
    Object.assign(activity.dependencies.config.models, { default: definition });
    await activity.run();
    expect(model.requests[0]?.headers.authorization).toBeUndefined();
  });

  test('a query in the base URL goes along with the request', async () => {
    model = await startScriptedModel([reply.text('a')]);
    await setUpCall(`${model.baseURL}?api-version=2`).run();
    expect(model.requests[0]?.path).toBe('/v1/chat/completions?api-version=2');
  });

  test('an answer after which the server neither says [DONE] nor closes is complete', async () => {
    const { answer } = await complete([
      reply.raw([chunk.text('a'), chunk.finish('stop'), { kind: 'hang' }]),
    ]);
    expect(answer.message).toMatchObject({ stopReason: 'stop' });
  });

  test('a connection that breaks after the finish reason takes nothing of the answer with it', async () => {
    const { answer } = await complete([
      reply.raw([chunk.text('a'), chunk.finish('stop'), { kind: 'cut' }]),
    ]);
    expect(answer.message).toMatchObject({ content: [{ type: 'text', text: 'a' }] });
  });

  test('a call of a tool that was not offered is settled with the names of those that were', async () => {
    const { answer } = await complete([reply.toolCalls([{ name: 'fly' }])], {
      tools: [weatherTool, toolSpec('bash')],
    });
    expect(answer.prepared).toEqual([
      { kind: 'settled', text: 'There is no tool named "fly". Known tools: getWeather, bash.' },
    ]);
  });

  test('calls beyond the 256th of an answer are settled: history has no room for thousands', async () => {
    const calls = Array.from({ length: 258 }, () => ({ name: 'bash' }));
    const { answer } = await complete([reply.toolCalls(calls)], { tools: [toolSpec('bash')] });
    expect(answer.prepared.slice(0, 256).every(({ kind }) => kind === 'ready')).toBe(true);
    expect(answer.prepared.slice(256)).toEqual(
      [0, 1].map(() => ({
        kind: 'settled',
        text: expect.stringContaining('258 tool calls, of which only the first 256 are executed'),
      })),
    );
  });
});
