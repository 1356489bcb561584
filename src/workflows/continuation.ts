// What `continue` means for a transcript: run on from its tail, let a queued batch stand in for the
// prompt, or nothing to do.

import type { Message, StopReason } from '../protocol/messages.js';
import type { RunStart } from './loop-effects.js';
import { takeBatch } from './queues.js';
import type { MessageQueue } from './queues.js';

export type ContinuationPlan =
  | { readonly kind: 'run'; readonly start: RunStart }
  | { readonly kind: 'rejected'; readonly reason: string };

/** A message as far as planning reads it. */
export interface TailMessage {
  readonly role: Message['role'];
  readonly stopReason?: StopReason;
}

/**
 * Plans a run from the present transcript. Errored and aborted answers at its end count as absent, as
 * model calls leave them out.
 *
 * A batch that stands in for the prompt is taken off its queue: run the start it is in within the same
 * Workflow Task.
 */
export function planContinue(
  transcript: readonly TailMessage[],
  queues: { readonly steering: MessageQueue; readonly followUp: MessageQueue },
): ContinuationPlan {
  const tail = transcript.findLast(({ stopReason }) => !isLeftOut(stopReason));
  if (tail === undefined) return { kind: 'rejected', reason: 'the transcript is empty' };
  if (tail.role !== 'assistant') return run([], false);

  const steering = takeBatch(queues.steering);
  if (steering.length > 0) return run(steering, true);
  const followUps = takeBatch(queues.followUp);
  if (followUps.length > 0) return run(followUps, false);
  return {
    kind: 'rejected',
    reason: 'the last message is an answer and nothing is queued',
  };
}

function isLeftOut(stopReason: StopReason | undefined): boolean {
  return stopReason === 'error' || stopReason === 'aborted';
}

function run(
  messages: Extract<RunStart, { kind: 'continue' }>['messages'],
  skipFirstSteeringPoll: boolean,
): ContinuationPlan {
  return { kind: 'run', start: { kind: 'continue', messages, skipFirstSteeringPoll } };
}
