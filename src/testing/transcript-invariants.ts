// Invariants of the transcript: each call of a normal answer has one result, in order, right after it.

import { toolCallsOf } from '../protocol/messages.js';
import type { Message } from '../protocol/messages.js';

/** Checks the messages from index `from` on. */
export function transcriptViolations(messages: readonly Message[], from = 0): readonly string[] {
  const violations: string[] = [];
  let index = from;
  while (index < messages.length) {
    const message = messages[index] as Message;
    index += 1;
    if (message.role === 'toolResult') {
      violations.push(
        `message ${index - 1} answers ${message.toolCallId}, which nobody asked here`,
      );
    }
    if (message.role !== 'assistant' || isLeftOut(message.stopReason)) continue;
    for (const id of new Set(toolCallsOf(message).map((call) => call.id))) {
      const next = messages[index];
      if (next?.role !== 'toolResult' || next.toolCallId !== id) {
        const found = next?.role === 'toolResult' ? next.toolCallId : (next?.role ?? 'nothing');
        violations.push(`message ${index} should be the result of ${id}, but is ${found}`);
        break;
      }
      if (message.stopReason === 'length' && !next.isError) {
        violations.push(`call ${id} of a cut-off answer has a result that is no error`);
      }
      index += 1;
    }
  }
  return violations;
}

/** Answers that model calls leave out; their calls are not executed and get no results. */
function isLeftOut(stopReason: string): boolean {
  return stopReason === 'error' || stopReason === 'aborted';
}
