// What must hold after every run, whatever the model, the tools, people and failures did. Pure: takes what
// followers and readers of a session see, so the same check serves the loop alone and a whole server.

import { toCanonicalJson } from '../protocol/json.js';
import type { Message } from '../protocol/messages.js';
import { abortViolations } from './abort-invariants.js';
import { eventViolations } from './event-invariants.js';
import { inputViolations } from './input-invariants.js';
import type { SessionRecord } from './session-record.js';
import { transcriptViolations } from './transcript-invariants.js';

/** A sentence for each breach of an invariant; empty when all hold. */
export function findViolations(record: SessionRecord): string[] {
  const { events, messages, carried = 0, executed = [], replayed } = record;
  return [
    ...transcriptViolations(messages, carried),
    ...executionViolations(messages, executed),
    ...inputViolations(record),
    ...eventViolations(record),
    ...abortViolations(record),
    ...(replayed === undefined || toCanonicalJson(replayed) === toCanonicalJson(events)
      ? []
      : ['the replay gave other events']),
  ];
}

function executionViolations(
  messages: readonly Message[],
  executed: readonly string[],
): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role !== 'assistant') return [];
    if (!['error', 'aborted', 'length'].includes(message.stopReason)) return [];
    return message.content
      .filter((block) => block.type === 'toolCall')
      .filter(({ id }) => executed.includes(id))
      .map(
        ({ id }) => `call ${id} of a message with stopReason ${message.stopReason} was executed`,
      );
  });
}
