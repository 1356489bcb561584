import { describe, expect, test } from 'vitest';
import { LiveUpdates } from '../../src/client/live-updates.js';
import type { PendingActivity } from '../../src/client/live-updates.js';
import type { AssistantMessage } from '../../src/protocol/messages.js';
import { zeroUsage } from '../../src/protocol/messages.js';

function model(
  text: string,
  { attempt = 1, offset = 0, thinking = '', key = 'run/1' } = {},
): PendingActivity {
  return {
    key,
    activityId: key,
    attempt,
    view: {
      kind: 'model',
      turn: 1,
      attempt,
      text: { offset, tail: text },
      thinking: { offset: 0, tail: thinking },
      providerFailures: 0,
    },
  };
}

function tool(output: string, { attempt = 1, offset = 0 } = {}): PendingActivity {
  return {
    key: 'run/2',
    activityId: '2',
    attempt,
    view: {
      kind: 'tool',
      toolCallId: 'call',
      toolName: 'bash',
      attempt,
      output: { offset, tail: output },
    },
  };
}

function answer(...texts: string[]): AssistantMessage {
  return {
    role: 'assistant',
    content: texts.map((text) => ({ type: 'text', text })),
    provider: 'p',
    model: 'm',
    usage: zeroUsage,
    stopReason: 'stop',
    timestamp: 1,
  };
}

/** What stands on the screen after these looks and the end of the message. */
function screen(looks: readonly PendingActivity[], message?: AssistantMessage): string {
  const updates = new LiveUpdates();
  let text = '';
  for (const look of looks) {
    for (const event of updates.update([look])) {
      if (event.type === 'message_update') {
        if (event.startsOver) text = '';
        text += event.text;
      }
    }
  }
  if (message === undefined) return text;
  const { unshown, startsOver } = updates.messageEnded(message);
  return startsOver ? unshown : text + unshown;
}

describe('LiveUpdates', () => {
  test('tells only what is new since the last look', () => {
    const updates = new LiveUpdates();
    expect(updates.update([model('Hel')])).toMatchObject([{ type: 'message_update', text: 'Hel' }]);
    expect(updates.update([model('Hello')])).toMatchObject([{ text: 'lo' }]);
    expect(updates.update([model('Hello')])).toEqual([]);
  });

  test('goes on where it was when the tail has moved', () => {
    expect(screen([model('abcdef'), model('defghi', { offset: 3 })])).toBe('abcdefghi');
  });

  test('says how much passed unseen between two looks', () => {
    const updates = new LiveUpdates();
    updates.update([model('abc')]);
    expect(updates.update([model('xyz', { offset: 10 })])).toMatchObject([
      { text: 'xyz', skipped: 7 },
    ]);
  });

  test('tells reasoning apart from text', () => {
    const updates = new LiveUpdates();
    updates.update([model('', { thinking: 'Hm' })]);
    expect(updates.update([model('Yes', { thinking: 'Hmm' })])).toMatchObject([
      { text: 'Yes', thinking: 'm' },
    ]);
  });

  test('starts over when the attempt changes', () => {
    const updates = new LiveUpdates();
    updates.update([model('The first try')]);
    const events = updates.update([model('Again', { attempt: 2 })]);
    expect(events).toMatchObject([
      { type: 'retry', attempt: 2 },
      { type: 'message_update', attempt: 2, text: 'Again', startsOver: true },
    ]);
  });

  test('shows nothing of an attempt that is over', () => {
    const updates = new LiveUpdates();
    const stale = { ...model('half an'), attempt: 2, lastFailure: 'socket closed', delayMs: 900 };
    expect(updates.update([stale])).toEqual([
      { type: 'retry', activityId: 'run/1', attempt: 2, reason: 'socket closed', delayMs: 900 },
    ]);
    expect(updates.update([stale])).toEqual([]);
  });

  test("gives the provider's reason for a retry where the model call told it", () => {
    const updates = new LiveUpdates();
    const { view, ...rest } = model('');
    const [event] = updates.update([
      {
        ...rest,
        attempt: 2,
        lastFailure: 'ApplicationFailure',
        view: { ...view, retry: { reason: '429 slow down', delayMs: 5 } } as never,
      },
    ]);
    expect(event).toMatchObject({ type: 'retry', reason: '429 slow down' });
  });

  test('an outage of the first heartbeats still tells each retry once', () => {
    const updates = new LiveUpdates();
    const waiting = { key: 'run/1', activityId: '1', attempt: 3, lastFailure: 'refused' };
    expect(updates.update([waiting])).toHaveLength(1);
    expect(updates.update([{ ...waiting, attempt: 4 }])).toMatchObject([{ attempt: 4 }]);
  });

  test('a tool starts over with its attempt, too', () => {
    const updates = new LiveUpdates();
    expect(updates.update([tool('line 1\n')])).toMatchObject([{ partialResult: 'line 1\n' }]);
    expect(updates.update([tool('line 1\nline 2\n')])).toMatchObject([
      { type: 'tool_execution_update', toolCallId: 'call', partialResult: 'line 2\n' },
    ]);
    expect(updates.update([tool('line 1\n', { attempt: 2 })])).toMatchObject([
      { type: 'retry' },
      { partialResult: 'line 1\n', startsOver: true },
    ]);
  });

  test.each([
    ['nothing was shown', []],
    ['half of it was shown', [model('Hello, ')]],
    ['all of it was shown', [model('Hello, world')]],
    ['only its tail was kept', [model('Hello, '), model('lo, wor', { offset: 3 })]],
    ['an attempt that failed showed another text', [model('Good morning')]],
    ['an attempt that failed showed its beginning', [model('Hello'), model('He', { attempt: 2 })]],
    ['white space came after it', [model('Hello, world\n\n')]],
  ])('the final text stands on the screen once when %s', (_, looks) => {
    expect(screen(looks, answer('Hello, world')).trimEnd()).toBe('Hello, world');
  });

  test('text that streamed in several blocks is not repeated', () => {
    const updates = new LiveUpdates();
    updates.update([model('onetw')]);
    expect(updates.messageEnded(answer('one', 'two'))).toEqual({ unshown: 'o' });
  });

  test('a message is not compared with the updates of an earlier one', () => {
    const updates = new LiveUpdates();
    updates.update([model('first')]);
    updates.messageEnded(answer('first'));
    expect(updates.messageEnded(answer('second'))).toEqual({ unshown: 'second' });
  });

  test('several tools show their output side by side', () => {
    const updates = new LiveUpdates();
    const other = { ...tool('b'), key: 'run/3', activityId: '3' };
    expect(updates.update([tool('a'), other])).toHaveLength(2);
    expect(updates.update([tool('aa'), other])).toMatchObject([{ partialResult: 'a' }]);
  });
});
