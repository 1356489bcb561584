import { describe, expect, test } from 'vitest';
import { missingResultText } from '../../../src/activities/model/adjacent-messages.js';
import { convertToLlm } from '../../../src/activities/model/chat-messages.js';
import { toChatRequest } from '../../../src/activities/model/chat-request.js';
import type { ModelQuirks } from '../../../src/activities/definitions.js';
import { thinkingLevels } from '../../../src/protocol/agent-definition.js';
import type { Message, ThinkingBlock } from '../../../src/protocol/messages.js';
import { assistant, call, modelDefinition, result, toolSpec, user } from './model-fixtures.js';

function convert(messages: readonly Message[], quirks: ModelQuirks = {}) {
  return convertToLlm(messages, modelDefinition({ quirks })) as readonly {
    readonly role: string;
    readonly content?: unknown;
    readonly tool_calls?: readonly { readonly id: string }[];
    readonly tool_call_id?: string;
    readonly [field: string]: unknown;
  }[];
}

const rolesOf = (messages: readonly Message[], quirks?: ModelQuirks) =>
  convert(messages, quirks).map(({ role, tool_call_id: id }) => (id ? `${role} ${id}` : role));

const text = (value: string) => ({ type: 'text', text: value }) as const;
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const;

describe('convertToLlm: calls and results', () => {
  test.each(['error', 'aborted'] as const)(
    'L14: a message with stop reason %s is left out together with its results',
    (stopReason) => {
      expect(
        rolesOf([
          user('a'),
          assistant([text('half'), call('x')], { stopReason }),
          result('x', 'from an import'),
          user('b'),
        ]),
      ).toEqual(['user', 'user']);
    },
  );

  test('a call without a result is closed by a synthetic error result directly after it', () => {
    const messages = convert([
      user('a'),
      assistant([call('x'), call('y')]),
      result('y', 'done'),
      user('b'),
    ]);
    expect(messages.map(({ role, tool_call_id: id, content }) => [role, id, content])).toEqual([
      ['user', undefined, 'a'],
      ['assistant', undefined, null],
      ['tool', 'x', missingResultText],
      ['tool', 'y', 'done'],
      ['user', undefined, 'b'],
    ]);
  });

  test('L14: results stand directly after their call, in the order of the calls', () => {
    expect(
      rolesOf([
        assistant([call('x'), call('y')]),
        result('y', '2'),
        user('between'),
        result('x', '1'),
        assistant([text('done')]),
      ]),
    ).toEqual(['assistant', 'tool x', 'tool y', 'user', 'assistant']);
  });

  test('a result that answers no call, or a second time, is dropped', () => {
    const messages = convert([
      result('early', 'no call yet'),
      assistant([call('x')]),
      result('x', 'first'),
      result('x', 'second'),
      result('stranger', '?'),
    ]);
    expect(messages.map(({ content }) => content)).toEqual([null, 'first']);
  });

  test('ids that repeat in an imported transcript keep their own results', () => {
    const messages = convert([
      assistant([call('x')]),
      result('x', 'one'),
      assistant([call('x')]),
      result('x', 'two'),
    ]);
    expect(messages.map(({ content }) => content)).toEqual([null, 'one', null, 'two']);
  });

  test('a cut answer keeps its calls with their error results', () => {
    expect(
      rolesOf([assistant([call('x')], { stopReason: 'length' }), result('x', 'cut off')]),
    ).toEqual(['assistant', 'tool x']);
  });

  test('an assistant message without text and calls is left out', () => {
    const thinking: ThinkingBlock = { type: 'thinking', thinking: 'Hm.' };
    expect(rolesOf([user('a'), assistant([thinking]), assistant([text('')])])).toEqual(['user']);
  });

  test('arguments that did not parse go back as an empty object', () => {
    const broken = { ...call('x', 'bash', {}), argumentsError: { message: 'm', raw: '{"a' } };
    expect(convert([assistant([broken])])[0]?.tool_calls).toMatchObject([
      { function: { name: 'bash', arguments: '{}' } },
    ]);
  });

  test('a name the model made up goes back in characters that servers take, an offered one as it is', () => {
    const messages = [assistant([call('x', 'fly to!'), call('y', 'mcp.list')])];
    const [message] = convertToLlm(messages, modelDefinition(), new Set(['mcp.list']));
    expect(message).toMatchObject({
      tool_calls: [{ function: { name: 'fly_to_' } }, { function: { name: 'mcp.list' } }],
    });
  });
});

describe('convertToLlm: content', () => {
  test('summaries and custom messages are sent as user messages, details never', () => {
    expect(
      convert([
        { role: 'compactionSummary', text: 'What was', timestamp: 1 },
        { role: 'branchSummary', text: 'What branched', timestamp: 1 },
        { role: 'custom', customType: 'note', content: 'A note', details: 'secret', timestamp: 1 },
        assistant([call('x')]),
        { ...result('x', 'ok'), details: 'for people' },
      ]),
    ).toEqual([
      { role: 'user', content: 'What was' },
      { role: 'user', content: 'What branched' },
      { role: 'user', content: 'A note' },
      expect.objectContaining({ role: 'assistant' }),
      { role: 'tool', tool_call_id: 'x', content: 'ok' },
    ]);
  });

  test('text alone is a string, images are data URLs', () => {
    expect(convert([user([text('a'), text('b')]), user([text('see'), image])])).toEqual([
      { role: 'user', content: 'a\nb' },
      {
        role: 'user',
        content: [
          text('see'),
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ]);
  });

  test('images of results follow the whole batch in a user message', () => {
    const shot = { ...result('x', 'taken'), content: [text('taken'), image] };
    const messages = convert([assistant([call('x'), call('y')]), shot, result('y', 'ok')]);
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'user']);
    expect(messages[1]?.content).toBe('taken\n[An image (image/png) follows the results.]');
    expect(messages[3]?.content).toMatchObject([{ type: 'text' }, { type: 'image_url' }]);
  });

  test('a model without images gets a note in their place', () => {
    const shot = { ...result('x', ''), content: [image] };
    const messages = convert([user([image]), assistant([call('x')]), shot], { images: false });
    expect(JSON.stringify(messages)).not.toContain('AAAA');
    expect(messages[2]?.content).toBe(
      '[An image (image/png) was left out: this model takes none.]',
    );
  });

  test('an empty result says so, as some servers refuse empty content', () => {
    expect(convert([assistant([call('x')]), { ...result('x', ''), content: [] }])[1]?.content).toBe(
      '(no output)',
    );
  });

  test('quirks: empty content, tool name, message between result and user', () => {
    const messages = [assistant([call('x')]), result('x', 'ok'), user('and')];
    expect(
      convert(messages, {
        emptyContent: 'empty-string',
        toolResultName: true,
        assistantAfterToolResult: true,
      }),
    ).toMatchObject([
      { role: 'assistant', content: '' },
      { role: 'tool', name: 'getWeather' },
      { role: 'assistant', content: 'I have read the results.' },
      { role: 'user', content: 'and' },
    ]);
    expect(rolesOf(messages)).toEqual(['assistant', 'tool x', 'user']);
  });

  test.each([
    ['as-is', /^functions\.bash:0-{60}$/],
    ['nine-alphanumerics', /^[a-zA-Z0-9]{9}$/],
    [undefined, /^(?=.{40}$)functions\.bash:0-*_[a-z0-9]{9}$/],
  ] as const)(
    'tool-call ids of the shape %s are the same for call and result',
    (shape, pattern) => {
      const id = `functions.bash:0${'-'.repeat(60)}`;
      const other = `${id}!`;
      const quirks = shape === undefined ? {} : { toolCallIds: shape };
      const [message, first, second] = convert(
        [assistant([call(id), call(other)]), result(id, '1'), result(other, '2')],
        quirks,
      );
      const ids = message?.tool_calls?.map((each) => each.id);
      expect(ids?.[0]).toMatch(pattern);
      expect([first?.tool_call_id, second?.tool_call_id]).toEqual(ids);
      expect(new Set(ids).size).toBe(2);
    },
  );
});

describe('convertToLlm: reasoning', () => {
  const signature = { reasoning_details: [{ type: 'reasoning.encrypted', data: 'A+/=' }] };
  const thinking: ThinkingBlock = {
    type: 'thinking',
    thinking: ' Let me\n see… ',
    field: 'reasoning',
    signature,
  };
  const signed = { ...call('x'), signature: { extra_content: { google: { s: 'Zz==' } } } };

  test('L35: goes back byte for byte to the same provider and model, under its own name', () => {
    const [message] = convert([assistant([thinking, signed])]);
    expect(message).toMatchObject({
      reasoning: ' Let me\n see… ',
      ...signature,
      tool_calls: [{ id: 'x', extra_content: { google: { s: 'Zz==' } } }],
    });
  });

  test('empty reasoning goes back too', () => {
    const empty: ThinkingBlock = { type: 'thinking', thinking: '', field: 'reasoning_content' };
    expect(convert([assistant([empty, call('x')])])[0]).toHaveProperty('reasoning_content', '');
  });

  test.each([{ provider: 'other' }, { model: 'other' }])(
    'L35: is dropped with its signatures when %o sent it',
    (origin) => {
      const [message] = convert([assistant([thinking, signed], origin)]);
      expect(Object.keys(message ?? {})).toEqual(['role', 'content', 'tool_calls']);
      expect(message?.tool_calls?.[0]).not.toHaveProperty('extra_content');
    },
  );

  test('is dropped where the model is configured so', () => {
    expect(
      convert([assistant([thinking, call('x')])], { returnReasoning: false })[0],
    ).not.toHaveProperty('reasoning');
  });

  test('without a field, as from <think> tags, it does not go back', () => {
    const tagged: ThinkingBlock = { type: 'thinking', thinking: 'Hm.' };
    expect(JSON.stringify(convert([assistant([tagged, text('a')])]))).not.toContain('Hm.');
  });
});

describe('toChatRequest', () => {
  const request = (
    quirks: ModelQuirks = {},
    overrides = {},
    level?: (typeof thinkingLevels)[number],
  ) =>
    toChatRequest({
      model: modelDefinition({ quirks, ...overrides }),
      systemPrompt: 'System.',
      messages: [{ role: 'user', content: 'a' }],
      tools: [],
      thinkingLevel: level,
    }) as unknown as { readonly [field: string]: unknown };

  test('quirks: system role, output limit, stream options', () => {
    expect(request({}, { maxOutputTokens: 9, temperature: 0 })).toMatchObject({
      max_tokens: 9,
      temperature: 0,
      stream_options: { include_usage: true },
      messages: [{ role: 'system' }, {}],
    });
    const other = request(
      { systemRole: 'developer', maxTokensField: 'max_completion_tokens', streamOptions: false },
      { maxOutputTokens: 9 },
    );
    expect(other).toMatchObject({
      max_completion_tokens: 9,
      messages: [{ role: 'developer' }, {}],
    });
    expect(other).not.toHaveProperty('stream_options');
    expect(other).not.toHaveProperty('max_tokens');
    expect(request()).not.toHaveProperty('tools');
  });

  test.each(thinkingLevels)('the thinking level %s is said as the server takes it', (level) => {
    expect(request({}, {}, level)['reasoning_effort']).toBe(level === 'off' ? undefined : level);
    expect(request({ thinking: 'enable_thinking' }, {}, level)['enable_thinking']).toBe(
      level !== 'off',
    );
    expect(
      request({ thinking: 'chat_template_kwargs' }, {}, level)['chat_template_kwargs'],
    ).toEqual({ enable_thinking: level !== 'off' });
    expect(Object.keys(request({ thinking: 'none' }, {}, level))).toEqual(Object.keys(request()));
  });

  test('extra fields of the config come last', () => {
    expect(request({}, { extraBody: { temperature: 2, top_k: 5 }, temperature: 1 })).toMatchObject({
      temperature: 2,
      top_k: 5,
    });
  });

  test('lone surrogates are replaced everywhere, pairs are kept', () => {
    const sent = toChatRequest({
      model: modelDefinition(),
      systemPrompt: 'a\uD800b',
      messages: [{ role: 'user', content: [{ type: 'text', text: '\uDC00 \u{1F600}' }] }],
      tools: [{ ...toolSpec('t'), description: '\uD83D' }],
      thinkingLevel: undefined,
    });
    expect(JSON.stringify(sent)).not.toMatch(/\\ud[89a-f]/i);
    expect(sent.messages[1]?.content).toEqual([{ type: 'text', text: '\uFFFD \u{1F600}' }]);
  });
});
