// From whatever a tool's function returned to a result of the contract's shape, redacted and fit for
// JSON. Sizes are the next step's business: `result-bounds.ts`.

import type { ToolResult } from '../../protocol/activities.js';
import { isJsonObject } from '../../protocol/json.js';
import { zeroUsage } from '../../protocol/messages.js';
import type { ImageBlock, TextBlock, Usage, UserContent } from '../../protocol/messages.js';
import { plainText, plainValue } from '../../protocol/plain-value.js';
import type { Redactor } from '../secrets.js';

export function textResult(text: string, isError: boolean): ToolResult {
  return { content: [{ type: 'text', text }], isError };
}

/**
 * A string stands for one text block, missing content for none. Values of other kinds are written as
 * JSON; blocks of unknown kinds likewise.
 */
export function toToolResult(output: unknown, redactor: Redactor): ToolResult {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) {
    return { content: toContent(output, redactor), isError: false };
  }
  const fields: { readonly [field: string]: unknown } = { ...output };
  const usage = toUsage(fields['usage']);
  const details = fields['details'];
  return {
    content: toContent(fields['content'], redactor),
    ...(details === undefined ? {} : { details: redactor.redactJson(plainValue(details)) }),
    isError: fields['isError'] === true,
    ...(fields['terminate'] === true ? { terminate: true } : {}),
    ...(usage === undefined ? {} : { usage }),
  };
}

export function toContent(content: unknown, redactor: Redactor): UserContent {
  if (content === undefined || content === null) return [];
  const items: readonly unknown[] = Array.isArray(content) ? content : [content];
  return items.map((item) => toBlock(item, redactor));
}

function toBlock(item: unknown, redactor: Redactor): TextBlock | ImageBlock {
  const text = (value: string): TextBlock => ({
    type: 'text',
    text: plainText(redactor.redact(value)),
  });
  if (typeof item === 'string') return text(item);
  if (typeof item === 'object' && item !== null && 'type' in item) {
    if (item.type === 'text' && 'text' in item && typeof item.text === 'string') {
      return text(item.text);
    }
    if (item.type === 'image' && 'data' in item && 'mimeType' in item) {
      const { data, mimeType } = item;
      if (typeof data === 'string' && typeof mimeType === 'string') {
        return {
          type: 'image',
          data: plainText(redactor.redact(data)),
          mimeType: plainText(mimeType),
        };
      }
    }
  }
  return text(JSON.stringify(plainValue(item)));
}

/** Undefined for what has no numbers of tokens in it. */
export function toUsage(value: unknown): Usage | undefined {
  const given = plainValue(value);
  if (!isJsonObject(given)) return undefined;
  const number = (field: string) => (typeof given[field] === 'number' ? given[field] : undefined);
  const fields = Object.keys(zeroUsage) as (keyof Usage)[];
  if (![...fields, 'cost'].some((field) => number(field) !== undefined)) return undefined;
  const input = number('input') ?? 0;
  const output = number('output') ?? 0;
  const cost = number('cost');
  return {
    input,
    output,
    cacheRead: number('cacheRead') ?? 0,
    cacheWrite: number('cacheWrite') ?? 0,
    reasoning: number('reasoning') ?? 0,
    total: number('total') ?? input + output,
    ...(cost === undefined ? {} : { cost }),
  };
}
