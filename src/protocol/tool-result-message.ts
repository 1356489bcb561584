// The transcript's message of a tool call's result, built in one place: the workflow appends it and the
// worker that ran the call caches it, and both must come to the same digest.

import type { ToolResult } from './activities.js';
import type { ToolResultMessage, Untimed } from './messages.js';

/** Fields that the result does not have are left out, so that equal results give equal messages. */
export function toToolResultMessage(
  call: { readonly toolCallId: string; readonly toolName: string },
  result: ToolResult,
): Untimed<ToolResultMessage> {
  return {
    role: 'toolResult',
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    content: result.content,
    ...(result.details === undefined ? {} : { details: result.details }),
    isError: result.isError,
    ...(result.durationMs === undefined ? {} : { durationMs: result.durationMs }),
    ...(result.usage === undefined ? {} : { usage: result.usage }),
  };
}
