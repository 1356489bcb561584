import { describe, expect, test } from 'vitest';
import { createStreamAccumulator } from '../../../src/activities/model/stream-accumulator.js';
import type { AccumulatorOptions } from '../../../src/activities/model/stream-accumulator.js';
import { chunk } from '../../../src/testing/scripted-model.js';

function accumulate(chunks: readonly unknown[], options: AccumulatorOptions = {}) {
  const accumulator = createStreamAccumulator(options);
  for (const each of chunks) accumulator.add(each);
  return accumulator.end();
}

/** Name and arguments of the calls, with the error where there is one. */
function callsOf(chunks: readonly unknown[]) {
  return accumulate(chunks).toolCalls.map((call) => [call.id, call.name, call.arguments]);
}

const entry = (fields: object, name?: string, args?: unknown) => ({
  ...fields,
  function: {
    ...(name === undefined ? {} : { name }),
    ...(args === undefined ? {} : { arguments: args }),
  },
});

describe('createStreamAccumulator: tool calls', () => {
  test('pieces with their index, as OpenAI sends them', () => {
    expect(
      callsOf([
        chunk.toolCalls(entry({ index: 0, id: 'a', type: 'function' }, 'f', '')),
        chunk.toolCalls(entry({ index: 0 }, undefined, '{"x"')),
        chunk.toolCalls(entry({ index: 1, id: 'b' }, 'g', '{"y"')),
        chunk.toolCalls(entry({ index: 0 }, undefined, ':1}')),
        chunk.toolCalls(entry({ index: 1 }, undefined, ':2}')),
      ]),
    ).toEqual([
      ['a', 'f', { x: 1 }],
      ['b', 'g', { y: 2 }],
    ]);
  });

  test('without an index: a new id opens a call, what has none belongs to the latest', () => {
    expect(
      callsOf([
        chunk.toolCalls(entry({ id: 'a' }, 'f', '{"x"')),
        chunk.toolCalls(entry({}, undefined, ':1}')),
        chunk.toolCalls(entry({ id: 'b' }, 'f', '{"x":2}')),
      ]),
    ).toEqual([
      ['a', 'f', { x: 1 }],
      ['b', 'f', { x: 2 }],
    ]);
  });

  test('index always 0 with different ids are different calls', () => {
    expect(
      callsOf([
        chunk.toolCalls(entry({ index: 0, id: 'a' }, 'f', '{"x":')),
        chunk.toolCalls(entry({ index: 0 }, undefined, '1}')),
        chunk.toolCalls(entry({ index: 0, id: 'b' }, 'f', '{"x":')),
        chunk.toolCalls(entry({ index: 0 }, undefined, '2}')),
      ]),
    ).toEqual([
      ['a', 'f', { x: 1 }],
      ['b', 'f', { x: 2 }],
    ]);
  });

  test('an id that is repeated with every piece stays one call', () => {
    expect(
      callsOf([
        chunk.toolCalls(entry({ index: 0, id: 'a' }, 'f', '{"x"')),
        chunk.toolCalls(entry({ index: 0, id: 'a' }, 'f', ':1}')),
        chunk.toolCalls(entry({ index: 0, id: 'a' }, 'f', '')),
      ]),
    ).toEqual([['a', 'f', { x: 1 }]]);
  });

  test('a whole call that is said twice stays one call', () => {
    expect(
      callsOf([
        chunk.toolCalls(entry({ index: 0, id: 'a' }, 'f', '{"x":1}')),
        chunk.toolCalls(entry({ index: 0, id: 'a' }, 'f', '{"x":1}')),
      ]),
    ).toEqual([['a', 'f', { x: 1 }]]);
  });

  test('an id that comes after its call does not open another', () => {
    expect(
      callsOf([
        chunk.toolCalls(entry({ index: 0 }, 'f', '{"x"')),
        chunk.toolCalls(entry({ index: 0, id: 'a' }, undefined, ':1}')),
      ]),
    ).toEqual([['a', 'f', { x: 1 }]]);
  });

  test('whole calls without id and index are different calls, in one chunk and in several', () => {
    const [f, g] = [entry({}, 'f', '{"x":1}'), entry({}, 'f', '{"x":2}')];
    const expected = [
      ['', 'f', { x: 1 }],
      ['', 'f', { x: 2 }],
    ];
    expect(callsOf([chunk.toolCalls(f, g)])).toEqual(expected);
    expect(callsOf([chunk.toolCalls(f), chunk.toolCalls(g)])).toEqual(expected);
    expect(callsOf([chunk.toolCalls(entry({}, 'f'), entry({}, 'g'))])).toEqual([
      ['', 'f', {}],
      ['', 'g', {}],
    ]);
    expect(callsOf([chunk.toolCalls(entry({}, 'f')), chunk.toolCalls(entry({}, 'g'))])).toEqual([
      ['', 'f', {}],
      ['', 'g', {}],
    ]);
  });

  test('a known id goes on with its call, also after another call under the same index', () => {
    expect(
      callsOf([
        chunk.toolCalls(entry({ index: 0, id: 'a' }, 'f', '{"x":')),
        chunk.toolCalls(entry({ index: 0, id: 'b' }, 'f', '{"x":')),
        chunk.toolCalls(entry({ index: 0, id: 'a' }, undefined, '1}')),
        chunk.toolCalls(entry({ index: 0, id: 'b' }, undefined, '2}')),
      ]),
    ).toEqual([
      ['a', 'f', { x: 1 }],
      ['b', 'f', { x: 2 }],
    ]);
  });

  test('one id under different indexes is two calls', () => {
    expect(
      callsOf([
        chunk.toolCalls(entry({ index: 0, id: 'a' }, 'f', '{"x":1}')),
        chunk.toolCalls(entry({ index: 1, id: 'a' }, 'f', '{"x":2}')),
      ]),
    ).toEqual([
      ['a', 'f', { x: 1 }],
      ['a', 'f', { x: 2 }],
    ]);
  });

  test.each([
    ['an object', { x: 1 }, { x: 1 }],
    ['an empty text', '', {}],
    ['null', null, {}],
    ['the text null', 'null', {}],
    ['an object inside a text', '"{\\"x\\":1}"', { x: 1 }],
  ])('arguments that are %s', (_name, args, expected) => {
    expect(callsOf([chunk.toolCalls(entry({ index: 0, id: 'a' }, 'f', args))])).toEqual([
      ['a', 'f', expected],
    ]);
  });

  test.each(['{"x":', '[1]', '7', 'x', '{"x":1}}'])(
    'arguments %s are kept raw with the reason',
    (args) => {
      const { toolCalls } = accumulate([chunk.toolCalls(entry({ index: 0, id: 'a' }, 'f', args))]);
      expect(toolCalls[0]).toMatchObject({ arguments: {}, argumentsError: { raw: args } });
      expect(toolCalls[0]?.argumentsError?.message).not.toBe('');
    },
  );

  test('arguments nested too deeply to be written again are kept raw with the reason', () => {
    const args = `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const { toolCalls } = accumulate([chunk.toolCalls(entry({ index: 0, id: 'a' }, 'f', args))]);
    expect(toolCalls[0]).toMatchObject({
      arguments: {},
      argumentsError: { message: 'the arguments are nested deeper than 128 levels', raw: args },
    });
  });

  test('a legacy function_call is a call', () => {
    expect(
      callsOf([
        chunk.delta({ function_call: { name: 'f', arguments: '{"x"' } }),
        chunk.delta({ function_call: { arguments: ':1}' } }),
      ]),
    ).toEqual([['', 'f', { x: 1 }]]);
  });

  test('an entry with neither name nor arguments is no call', () => {
    expect(callsOf([chunk.toolCalls(entry({ index: 0, id: 'a' }, '', ''))])).toEqual([]);
  });

  test('a thought signature stays with its call', () => {
    const signature = { extra_content: { google: { thought_signature: 'abc=' } } };
    const { toolCalls } = accumulate([
      chunk.toolCalls(entry({ index: 0, id: 'a', ...signature }, 'f', '{}')),
    ]);
    expect(toolCalls[0]?.signature).toEqual(signature);
  });
});

describe('createStreamAccumulator: text, reasoning, usage', () => {
  test('chunks of any shape are survived', () => {
    const answer = accumulate([
      null,
      7,
      'x',
      {},
      { choices: null },
      { choices: [] },
      { choices: [null] },
      { choices: [{}] },
      { choices: [{ delta: null, finish_reason: null }] },
      { choices: [{ delta: { content: null, tool_calls: null, role: 'assistant' } }] },
      { choices: [{ delta: { tool_calls: [null, 3, {}] } }] },
      { choices: [{ index: 1, delta: { content: 'another choice' } }] },
      chunk.text('a'),
      { choices: [{ delta: { content: [{ type: 'text', text: 'b' }, { type: 'image' }] } }] },
      { choices: [{ delta: { refusal: 'c' }, finish_reason: '' }] },
      chunk.finish('stop'),
      { choices: [{ delta: {}, finish_reason: null }] },
    ]);
    expect(answer).toMatchObject({ text: 'abc', toolCalls: [], finishReason: 'stop' });
  });

  test.each(['reasoning_content', 'reasoning', 'reasoning_text'])(
    'reasoning comes in the field %s and remembers it',
    (field) => {
      expect(accumulate([chunk.reasoning('a', field), chunk.reasoning('b', field)])).toMatchObject({
        thinking: 'ab',
        thinkingField: field,
      });
    },
  );

  test('two reasoning fields with the same text count once: the first non-empty', () => {
    expect(
      accumulate([
        chunk.delta({ reasoning_content: '', reasoning: 'a' }),
        chunk.delta({ reasoning_content: null, reasoning: 'b', reasoning_text: 'b' }),
      ]),
    ).toMatchObject({ thinking: 'ab', thinkingField: 'reasoning' });
  });

  test('an empty reasoning field is remembered, as it must be sent back', () => {
    expect(accumulate([chunk.reasoning('')])).toMatchObject({
      thinking: '',
      thinkingField: 'reasoning_content',
    });
  });

  test('reasoning_details are put together entry by entry', () => {
    const details = (...entries: object[]) => chunk.delta({ reasoning_details: entries });
    expect(
      accumulate([
        details({ type: 'reasoning.text', text: 'Let ', index: 0, format: 'x' }),
        details({ type: 'reasoning.text', text: 'me', index: 0, signature: null }),
        details({ type: 'reasoning.text', index: 0, signature: 'sig==' }),
        details({ type: 'reasoning.text', text: 'Signed apart', index: 0 }),
        details({ type: 'reasoning.text', text: 'Next', index: 1 }),
        details({ type: 'reasoning.encrypted', data: 'AA==', index: 2 }),
        details({ type: 'reasoning.encrypted', data: 'BB==', index: 2 }),
      ]).signature,
    ).toEqual({
      reasoning_details: [
        { type: 'reasoning.text', text: 'Let me', index: 0, format: 'x', signature: 'sig==' },
        { type: 'reasoning.text', text: 'Signed apart', index: 0 },
        { type: 'reasoning.text', text: 'Next', index: 1 },
        { type: 'reasoning.encrypted', data: 'AA==', index: 2 },
        { type: 'reasoning.encrypted', data: 'BB==', index: 2 },
      ],
    });
  });

  test('the last usage counts, wherever it stands', () => {
    const inChoice = { choices: [{ delta: {}, usage: { prompt_tokens: 3 } }] };
    expect(accumulate([chunk.usage(1, 1), chunk.usage(2, 2)]).usage).toMatchObject({
      prompt_tokens: 2,
    });
    expect(accumulate([chunk.usage(1, 1), inChoice]).usage).toEqual({ prompt_tokens: 3 });
  });

  test('only what the model said counts as a token', () => {
    const accumulator = createStreamAccumulator();
    const silent = [
      {},
      chunk.delta({ role: 'assistant', content: '' }),
      chunk.usage(1, 1),
      { choices: [] },
    ];
    expect(silent.map((each) => accumulator.add(each))).toEqual([false, false, false, false]);
    const spoken = [
      chunk.text('a'),
      chunk.reasoning('b'),
      chunk.toolCalls(entry({ index: 0 }, 'f')),
      chunk.finish('stop'),
    ];
    expect(spoken.map((each) => accumulator.add(each))).toEqual([true, true, true, true]);
  });
});

describe('createStreamAccumulator: <think> tags', () => {
  const cases = [
    ['<think>a</think>b', 'a', 'b'],
    ['<think>a</think>\n\nb <think>c</think> d', 'ac', 'b d'],
    ['a < b and <thin air>', '', 'a < b and <thin air>'],
    ['a</think>\nb', 'a', 'b'],
    ['<think>never closed', 'never closed', ''],
    ['ends with <th', '', 'ends with <th'],
    ['<think>a</think>b</think>', 'a', 'b</think>'],
  ] as const;

  test.each(cases)('%j, in chunks of every size', (content, thinking, text) => {
    for (let size = 1; size <= content.length; size++) {
      const pieces: unknown[] = [];
      for (let at = 0; at < content.length; at += size) {
        pieces.push(chunk.text(content.slice(at, at + size)));
      }
      expect(accumulate(pieces, { thinkTags: true })).toMatchObject({ thinking, text });
    }
  });

  test('without the option the tags are content', () => {
    expect(accumulate([chunk.text('<think>a</think>b')]).text).toBe('<think>a</think>b');
  });
});
