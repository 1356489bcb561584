// Whether an activity's result has the shape of one. Workers keep the contract; people may complete an
// activity by hand (`temporal activity complete`) with anything.

import type { CompleteChatResult } from '../protocol/activities.js';
import { isJsonObject } from '../protocol/json.js';

export function isReadableChat(result: unknown): result is CompleteChatResult {
  if (!isJsonObject(result) || !Array.isArray(result['prepared'])) return false;
  const { message } = result;
  if (!isJsonObject(message) || message['role'] !== 'assistant') return false;
  const { content, usage, stopReason } = message;
  return (
    Array.isArray(content) &&
    content.every((block) => isJsonObject(block) && typeof block['type'] === 'string') &&
    isJsonObject(usage) &&
    typeof usage['total'] === 'number' &&
    typeof stopReason === 'string'
  );
}

/** A tool's result: an object whose content, if it has any, is a list of text and image blocks. */
export function isReadableToolResult(result: unknown): boolean {
  if (!isJsonObject(result)) return false;
  const { content } = result;
  if (content === undefined) return true;
  return Array.isArray(content) && content.every((block) => isReadableBlock(block));
}

function isReadableBlock(block: unknown): boolean {
  if (!isJsonObject(block)) return false;
  if (block['type'] === 'text') return typeof block['text'] === 'string';
  return (
    block['type'] === 'image' &&
    typeof block['data'] === 'string' &&
    typeof block['mimeType'] === 'string'
  );
}
