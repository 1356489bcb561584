import { describe, expect, test } from 'vitest';
import { isContextOverflow } from '../../../src/activities/model/context-overflow.js';

const sayings: readonly (readonly [provider: string, status: number | undefined, text: string])[] =
  [
    ['OpenAI', 400, 'Your input exceeds the context window of this model.'],
    [
      'OpenAI',
      400,
      "This model's maximum context length is 128,000 tokens. However, you requested more.",
    ],
    ['Anthropic', 400, 'prompt is too long: 213462 tokens > 200000 maximum'],
    ['Bedrock', 400, 'Input is too long for requested model.'],
    [
      'Gemini',
      400,
      'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    ],
    [
      'xAI',
      400,
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    ],
    ['Groq', 400, 'Please reduce the length of the messages or completion.'],
    ['OpenRouter', 400, "This endpoint's maximum context length is 32768 tokens."],
    ['vLLM', 400, "This model's maximum context length is 4096 tokens."],
    ['LiteLLM', 400, 'Requested tokens exceeds the maximum context length'],
    [
      'Together',
      422,
      "Input (9000 tokens) is longer than the model's context length (8192 tokens).",
    ],
    ['GitHub Copilot', 400, 'prompt token count of 138392 exceeds the limit of 128000'],
    ['llama.cpp', 400, 'the request exceeds the available context size, try increasing it'],
    ['LM Studio', 400, 'The number of tokens to keep is greater than the context length'],
    [
      'Mistral',
      400,
      'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
    ],
    ['Kimi', 400, 'Your request exceeded model token limit: 131072'],
    ['MiniMax', 400, 'invalid params, context window exceeds limit'],
    ['Ollama', 400, 'prompt too long; exceeded max context length by 4 tokens'],
    ['an error inside the stream', undefined, 'prompt is too long'],
  ];

const others: readonly (readonly [what: string, status: number | undefined, text: string])[] = [
  ['throttling', 429, 'Rate limit reached: too many tokens per minute.'],
  [
    'throttling with a length wording',
    400,
    'Too many tokens per minute, reduce the length of the messages',
  ],
  [
    'throttling of Groq',
    413,
    'Request too large on tokens per minute (TPM): Limit 6000, Requested 8000',
  ],
  ['an overflow wording under 429', 429, 'maximum context length is 100 tokens'],
  ['a wrong key', 401, 'prompt is too long'],
  ['an output limit', 400, 'max_tokens is too large: this model supports at most 16384 tokens'],
  ['too many tools', 400, 'the number of tools exceeds the limit of 128'],
  ['a large upload', 413, 'Request Entity Too Large'],
  ['an empty 400', 400, ''],
  ['an empty 413', 413, ''],
  ['an empty error inside the stream', undefined, ''],
];

describe('isContextOverflow', () => {
  test.each(sayings)('%s (%s) says it: %s', (provider, status, text) => {
    expect(isContextOverflow({ ...(status && { status }), text, provider })).toBe(true);
  });

  test.each(others)('%s (%s) is none: %s', (_what, status, text) => {
    expect(isContextOverflow({ ...(status && { status }), text, provider: 'openai' })).toBe(false);
  });

  test.each([400, 413])('an empty %i of Cerebras is one', (status) => {
    expect(isContextOverflow({ status, text: '', provider: 'api.cerebras.ai' })).toBe(true);
  });

  test('the code decides, whatever the text', () => {
    const error = { code: 'context_length_exceeded', text: 'x', provider: 'openai' };
    expect(isContextOverflow(error)).toBe(true);
    expect(isContextOverflow({ ...error, status: 400 })).toBe(true);
  });
});
