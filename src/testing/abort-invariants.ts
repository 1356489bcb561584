// Invariant of aborts: what was under way may end, nothing new begins.

import type { LoggedEvent } from '../protocol/events.js';
import type { SessionRecord } from './session-record.js';

export function abortViolations({
  events,
  messages,
  abortedAfter = [],
}: SessionRecord): readonly string[] {
  return abortedAfter.flatMap((abortedAt) => {
    const violations: string[] = [];
    let answers = 0;
    for (const event of restOfRun(events, abortedAt)) {
      const complain = (text: string) =>
        violations.push(`event ${event.seq} ${event.type}: ${text}`);
      if (begins.has(event.type)) complain('begins after the abort');
      if (event.type !== 'message_end') continue;
      const role = messages[event.message]?.role;
      if (role === 'user' || role === 'custom') complain('a message is delivered after the abort');
      // The model call in flight keeps what had arrived.
      if (role === 'assistant') answers += 1;
      if (answers > 1) complain('a second answer after the abort');
    }
    return violations;
  });
}

const begins: ReadonlySet<LoggedEvent['type']> = new Set([
  'agent_start',
  'turn_start',
  'tool_execution_start',
  'approval_requested',
  'workspace_wait_start',
]);

/** Events after the abort, up to the run's end. A run aborted before it began still takes its prompt in. */
function restOfRun(events: readonly LoggedEvent[], abortedAt: number): readonly LoggedEvent[] {
  let rest = events.filter(({ seq }) => seq > abortedAt);
  if (rest[0]?.type === 'agent_start') {
    rest = rest.slice(rest.findIndex(({ type }) => type === 'turn_end'));
  }
  const end = rest.findIndex(({ type }) => type === 'agent_end');
  return end < 0 ? rest : rest.slice(0, end);
}
