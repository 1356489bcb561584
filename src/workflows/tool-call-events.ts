// What a tool call leaves behind: its start and end in the event log, its result in the transcript.

import type { ToolResult } from '../protocol/activities.js';
import type { ToolCall } from '../protocol/messages.js';
import type { LoopEffects } from './loop-effects.js';

export function emitStart(call: ToolCall, message: number, effects: LoopEffects): void {
  const { id: toolCallId, name: toolName } = call;
  effects.emit({ type: 'tool_execution_start', toolCallId, toolName, message });
}

export function emitEnd(call: ToolCall, result: ToolResult, effects: LoopEffects): void {
  const { id: toolCallId, name: toolName } = call;
  const { isError } = result;
  effects.emit({ type: 'tool_execution_end', toolCallId, toolName, isError }, result);
}

/** Appends the result message and returns its index. */
export function recordResult(call: ToolCall, result: ToolResult, effects: LoopEffects): number {
  const { content, details, isError, durationMs, usage } = result;
  const message = effects.append({
    role: 'toolResult',
    toolCallId: call.id,
    toolName: call.name,
    content,
    ...(details !== undefined && { details }),
    isError,
    ...(durationMs !== undefined && { durationMs }),
    ...(usage !== undefined && { usage }),
  });
  effects.emit({ type: 'message_start', message });
  effects.emit({ type: 'message_end', message });
  return message;
}
