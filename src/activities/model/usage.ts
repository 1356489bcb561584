// Reads token counts from the shapes that providers give them, and prices them.

import { zeroUsage } from '../../protocol/messages.js';
import type { Usage } from '../../protocol/messages.js';
import type { ModelDefinition } from '../definitions.js';
import { fieldsOf } from './stream-chunk.js';
import type { Fields } from './stream-chunk.js';

/** `input` holds cached tokens too, as the provider counts them. No usage: zero. */
export function toUsage(raw: Fields | undefined, prices: ModelDefinition['prices']): Usage {
  const usage = raw === undefined ? zeroUsage : readUsage(raw);
  if (prices === undefined) return usage;
  const fresh = Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite);
  const dollars =
    fresh * prices.input +
    usage.cacheRead * (prices.cacheRead ?? prices.input) +
    usage.cacheWrite * (prices.cacheWrite ?? prices.input) +
    usage.output * prices.output;
  return { ...usage, cost: dollars / 1_000_000 };
}

function readUsage(raw: Fields): Usage {
  const prompt = fieldsOf(raw['prompt_tokens_details']) ?? {};
  const completion = fieldsOf(raw['completion_tokens_details']) ?? {};
  const input = first(raw['prompt_tokens'], raw['input_tokens']);
  const output = first(raw['completion_tokens'], raw['output_tokens']);
  const total = first(raw['total_tokens']);
  return {
    input,
    output,
    cacheRead: first(
      prompt['cached_tokens'],
      raw['prompt_cache_hit_tokens'],
      raw['cached_tokens'],
      raw['cache_read_input_tokens'],
    ),
    cacheWrite: first(prompt['cache_write_tokens'], raw['cache_creation_input_tokens']),
    reasoning: first(completion['reasoning_tokens'], raw['reasoning_tokens']),
    total: total > 0 ? total : input + output,
  };
}

function first(...values: readonly unknown[]): number {
  const found = values.find((value) => typeof value === 'number' && Number.isFinite(value));
  return typeof found === 'number' ? Math.max(0, found) : 0;
}
