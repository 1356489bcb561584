import { describe, expect, test } from 'vitest';
import type { StopReason, Untimed } from '../../src/protocol/messages.js';
import { planContinue } from '../../src/workflows/continuation.js';
import { createQueue } from '../../src/workflows/queues.js';
import type { QueueMode } from '../../src/protocol/session.js';
import { assistantMessage, userMessage } from '../support/loop-values.js';

const answer = (stopReason: StopReason = 'stop') => assistantMessage([], stopReason);
const result: Untimed = {
  role: 'toolResult',
  toolCallId: 'c1',
  toolName: 'echo',
  content: [],
  isError: false,
};

function queuesOf(
  { steering = [], followUp = [] }: { steering?: string[]; followUp?: string[] },
  mode: QueueMode = 'one-at-a-time',
) {
  const queueOf = (kind: 'steer' | 'followUp', texts: string[]) =>
    createQueue(
      mode,
      texts.map((text) => ({ kind, message: userMessage(text) })),
    );
  return { steering: queueOf('steer', steering), followUp: queueOf('followUp', followUp) };
}

const plain = {
  kind: 'run',
  start: { kind: 'continue', messages: [], skipFirstSteeringPoll: false },
};

describe('planContinue', () => {
  test('an empty transcript is rejected, whatever is queued', () => {
    const queues = queuesOf({ steering: ['s'] });
    expect(planContinue([], queues)).toEqual({
      kind: 'rejected',
      reason: 'the transcript is empty',
    });
    expect(queues.steering.entries).toHaveLength(1);
  });

  test.each<[string, Untimed]>([
    ['user', userMessage('go on')],
    ['toolResult', result],
    ['custom', { role: 'custom', customType: 'note', content: 'x' }],
    ['compactionSummary', { role: 'compactionSummary', text: 'so far' }],
  ])(
    'a %s tail is a plain continuation that leaves the queues to the first poll',
    (_role, tail) => {
      const queues = queuesOf({ steering: ['s'], followUp: ['f'] });
      expect(planContinue([userMessage('a'), answer(), tail], queues)).toEqual(plain);
      expect(queues.steering.entries).toHaveLength(1);
      expect(queues.followUp.entries).toHaveLength(1);
    },
  );

  test.each(['stop', 'length', 'toolUse'] as const)(
    'an assistant tail (%s): one steering batch becomes the prompt and the first poll is skipped',
    (stopReason) => {
      const queues = queuesOf({ steering: ['s1', 's2'], followUp: ['f'] });
      expect(planContinue([userMessage('a'), answer(stopReason)], queues)).toEqual({
        kind: 'run',
        start: {
          kind: 'continue',
          messages: [userMessage('s1')],
          skipFirstSteeringPoll: true,
        },
      });
      expect(queues.steering.entries).toHaveLength(1);
      expect(queues.followUp.entries).toHaveLength(1);
    },
  );

  test('an assistant tail and no steering: one follow-up batch becomes the prompt', () => {
    const queues = queuesOf({ followUp: ['f1', 'f2'] }, 'all');
    expect(planContinue([userMessage('a'), answer()], queues)).toEqual({
      kind: 'run',
      start: {
        kind: 'continue',
        messages: [userMessage('f1'), userMessage('f2')],
        skipFirstSteeringPoll: false,
      },
    });
    expect(queues.followUp.entries).toEqual([]);
  });

  test('an assistant tail and nothing queued is rejected with the reason', () => {
    expect(planContinue([userMessage('a'), answer()], queuesOf({}))).toEqual({
      kind: 'rejected',
      reason: 'the last message is an answer and nothing is queued',
    });
  });

  test.each(['error', 'aborted'] as const)(
    'L14: after a run that ended in %s, the tail is the message before it',
    (stopReason) => {
      const ended = answer(stopReason);
      expect(planContinue([userMessage('a'), ended, ended], queuesOf({}))).toEqual(plain);
      expect(planContinue([userMessage('a'), answer(), ended], queuesOf({}))).toMatchObject({
        kind: 'rejected',
      });
      expect(planContinue([ended], queuesOf({}))).toMatchObject({ kind: 'rejected' });
    },
  );
});
