// Brings the transcript into the order that the chat completions API accepts: every call of an assistant
// message has exactly one result directly after it, whatever an abort, a crash or an import left behind.

import { toolCallsOf } from '../../protocol/messages.js';
import type { AssistantMessage, Message, ToolResultMessage } from '../../protocol/messages.js';

export const missingResultText =
  'No result was recorded for this call: it was interrupted. Whether it took effect is unknown.';

/**
 * Leaves out errored and aborted assistant messages together with their results; puts each call's result
 * directly after its message, in the order of the calls; answers a call without a result by a synthetic
 * error result; drops results that answer no call.
 */
export function toAdjacent(messages: readonly Message[]): readonly Message[] {
  const results = resultsByCall(messages);
  return messages.flatMap((message): readonly Message[] => {
    if (message.role === 'toolResult') return [];
    if (message.role !== 'assistant') return [message];
    if (isLeftOut(message)) return [];
    const own = toolCallsOf(message).map(
      (call): ToolResultMessage =>
        results.get(call)?.message ?? {
          role: 'toolResult',
          toolCallId: call.id,
          toolName: call.name,
          content: [{ type: 'text', text: missingResultText }],
          isError: true,
          timestamp: message.timestamp,
        },
    );
    return [message, ...own];
  });
}

function isLeftOut({ stopReason, content }: AssistantMessage): boolean {
  if (stopReason === 'error' || stopReason === 'aborted') return true;
  // Servers refuse an assistant message without text and calls.
  return !content.some(
    (block) => block.type === 'toolCall' || (block.type === 'text' && block.text !== ''),
  );
}

interface Found {
  readonly message: ToolResultMessage;
}

/**
 * Pairs calls with results: a result answers the latest call before it with its id, unless that has one. So
 * ids that repeat in an imported transcript, and results of messages that are left out, find their own.
 */
function resultsByCall(messages: readonly Message[]): ReadonlyMap<object, Found> {
  const open = new Map<string, object>();
  const found = new Map<object, Found>();
  for (const message of messages) {
    if (message.role === 'assistant') {
      for (const call of toolCallsOf(message)) open.set(call.id, call);
    }
    if (message.role !== 'toolResult') continue;
    const call = open.get(message.toolCallId);
    if (call !== undefined && !found.has(call)) found.set(call, { message });
  }
  return found;
}
