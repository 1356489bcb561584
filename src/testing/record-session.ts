// Reads a session for `findViolations`.

import type { AgentRun } from '../client/index.js';
import type { ReportedEvent } from '../protocol/events.js';
import type { Message } from '../protocol/messages.js';
import type { SessionRecord } from './session-record.js';

/** The part of an `AgentRun` that is read. */
export type RecordedRun = Pick<AgentRun, 'workflowId' | 'loggedEvents' | 'messages' | 'state'>;

/**
 * All events, the transcript and what still waits, as the workflow's queries tell them; it needs a worker.
 *
 * To be read after the last run has ended: one that goes on is a violation. What only the test knows can be
 * added: `findViolations({ ...(await recordSession(run)), inputs: [{ message: 'Hi' }] })`.
 * @throws WorkerUnreachable when no worker answers
 */
export async function recordSession(run: RecordedRun): Promise<SessionRecord> {
  const events = await collected<ReportedEvent>(run.loggedEvents());
  const messages = await collected<Message>(run.messages());
  const { status, queues, undelivered } = await run.state();
  const [first] = events;
  if (first !== undefined && first.seq !== 1) {
    throw new Error(
      `'${run.workflowId}' no longer keeps its first ${first.seq - 1} events: record shorter sessions.`,
    );
  }
  const announced = events.find((event) => event.type === 'message_start');
  return {
    events,
    messages,
    carried: announced?.message ?? messages.length,
    queued: status === 'closed' ? undelivered : [...queues.steering, ...queues.followUp],
  };
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
