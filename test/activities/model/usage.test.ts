import { describe, expect, test } from 'vitest';
import { toUsage } from '../../../src/activities/model/usage.js';
import { zeroUsage } from '../../../src/protocol/messages.js';

describe('toUsage', () => {
  test.each([
    ['OpenAI', { prompt_tokens_details: { cached_tokens: 4 } }, { cacheRead: 4 }],
    ['DeepSeek', { prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 6 }, { cacheRead: 4 }],
    ['Moonshot', { cached_tokens: 4 }, { cacheRead: 4 }],
    [
      'Anthropic through a proxy',
      { cache_read_input_tokens: 4, cache_creation_input_tokens: 3 },
      { cacheRead: 4, cacheWrite: 3 },
    ],
    [
      'OpenRouter',
      { prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 } },
      { cacheRead: 4, cacheWrite: 3 },
    ],
    ['reasoning', { completion_tokens_details: { reasoning_tokens: 2 } }, { reasoning: 2 }],
    ['nulls', { prompt_tokens_details: null, total_tokens: null }, {}],
    ['nonsense', { total_tokens: -5, cached_tokens: 'x' }, {}],
    ['its own total', { total_tokens: 99 }, { total: 99 }],
  ])('reads the shape of %s', (_name, fields, expected) => {
    expect(toUsage({ prompt_tokens: 10, completion_tokens: 5, ...fields }, undefined)).toEqual({
      ...zeroUsage,
      input: 10,
      output: 5,
      total: 15,
      ...expected,
    });
  });

  test('no usage is zero, and costs nothing where prices are configured', () => {
    expect(toUsage(undefined, undefined)).toEqual(zeroUsage);
    expect(toUsage(undefined, { input: 1, output: 1 })).toEqual({ ...zeroUsage, cost: 0 });
  });

  test('cached tokens cost as input where they have no price of their own', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 0, cached_tokens: 4 };
    expect(toUsage(usage, { input: 1_000_000, output: 0 }).cost).toBe(10);
  });
});
