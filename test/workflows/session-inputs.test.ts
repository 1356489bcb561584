import { beforeEach, describe, expect, test, vi } from 'vitest';
import { signalKinds } from '../../src/protocol/events.js';
import type { AgentEvent, SignalKind } from '../../src/protocol/events.js';
import type { AgentSession } from '../../src/workflows/agent-session.js';
import { decodePayload } from '../../src/workflows/payload.js';
import { acceptInput, acceptSubmit } from '../../src/workflows/session-inputs.js';
import {
  awaitApprovals,
  createSession,
  fakeScope,
  idleSession,
  rawBytes,
  rawOf,
  runningSession,
} from '../support/fake-session.js';
import { assistantMessage } from '../support/loop-values.js';
import { expectFits } from '../support/pages.js';

vi.mock(import('@temporalio/workflow'), async (original) => ({
  ...(await original()),
  setCurrentDetails: () => undefined,
}));

const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const;

const send = (session: AgentSession, kind: SignalKind, value?: unknown) =>
  acceptInput(session, kind, decodePayload(value === undefined ? undefined : rawOf(value)));
const submit = (session: AgentSession, value: unknown) =>
  acceptSubmit(session, decodePayload(rawOf(value)));

function eventsOf(session: AgentSession): readonly AgentEvent[] {
  return session.events.page({}, session.transcript, true).events;
}

const textsOf = (entries: AgentSession['steering']['entries']) =>
  entries.map(({ message }) => JSON.stringify(message.content));

describe('steer and followUp', () => {
  test.each(['steer', 'followUp'] as const)('%s queues what it is sent, in order', (kind) => {
    const session = idleSession();
    for (const value of ['one', { text: 'two' }, { role: 'user', content: 'three' }]) {
      expect(send(session, kind, value)).toEqual({ outcome: 'queued' });
    }
    const queue = kind === 'steer' ? session.steering : session.followUp;
    expect(textsOf(queue.entries)).toEqual([
      '[{"type":"text","text":"one"}]',
      '[{"type":"text","text":"two"}]',
      '"three"',
    ]);
    expect(eventsOf(session)).toMatchObject([
      { type: 'queued', kind, preview: 'one' },
      { type: 'queued', kind, preview: 'two' },
      { type: 'queued', kind, preview: 'three' },
    ]);
  });

  test('an image alone is queued, and the same image again', () => {
    const session = idleSession();
    send(session, 'steer', { content: [image] });
    send(session, 'steer', { content: [image] });
    expect(session.steering.entries).toHaveLength(2);
  });

  test('are accepted while a run is active', () => {
    const { session } = runningSession();
    expect(send(session, 'steer', 'x')).toEqual({ outcome: 'queued' });
    expect(send(session, 'followUp', 'x')).toEqual({ outcome: 'queued' });
  });

  test.each([
    ['nothing', undefined, /^message: expected a string, .* got nothing\.$/],
    ['an empty string', '', /^message: the text is empty\.$/],
    ['a number', 5, /^message: expected a string, .* got 5\.$/],
    ['a list', ['x'], /^message: expected a string, .* got a list\.$/],
    ['an assistant message', { role: 'assistant', content: [] }, /^message\.role: expected user/],
  ])('%s is recorded as rejected with the reason', (_, value, reason) => {
    const session = idleSession();
    expect(send(session, 'steer', value)).toEqual({
      outcome: 'rejected',
      reason: expect.stringMatching(reason),
    });
    expect(eventsOf(session)).toMatchObject([
      { type: 'rejected', kind: 'steer', reason: expect.stringMatching(reason) },
    ]);
    expect(session.steering.entries).toEqual([]);
  });

  test.each(signalKinds)('%s takes JSON of a million levels without harm', (kind) => {
    const list = '['.repeat(1_000_000) + ']'.repeat(1_000_000);
    for (const json of [list, `{"text":"x","details":${list}}`, `{"id":${list}}`]) {
      const session = runningSession().session;
      void awaitApprovals(session, ['a']);
      const { outcome } = acceptInput(session, kind, decodePayload(rawBytes(json)));
      expect(outcome).toBe(
        ['abort', 'close'].includes(kind) && !json.includes('id') ? 'accepted' : 'rejected',
      );
      expectFits(session.events.page({}, session.transcript, true));
      expect(session.steering.entries).toEqual([]);
    }
  });

  test('what nobody can decode is recorded as rejected', () => {
    const session = idleSession();
    acceptInput(session, 'followUp', decodePayload(rawBytes('{"text":')));
    expect(eventsOf(session)).toMatchObject([
      { type: 'rejected', kind: 'followUp', reason: expect.stringContaining('cannot be decoded') },
    ]);
  });
});

describe('ids', () => {
  test('the same id twice counts once, also across kinds, and the answer is the first', () => {
    const session = idleSession();
    send(session, 'steer', { text: 'one', id: 'x' });
    expect(send(session, 'steer', { text: 'two', id: 'x' })).toEqual({
      outcome: 'duplicate',
      first: { outcome: 'queued' },
    });
    expect(submit(session, { kind: 'prompt', message: 'three', id: 'x' })).toEqual({
      outcome: 'duplicate',
      first: { outcome: 'queued' },
    });
    expect(send(session, 'close', { id: 'x' })).toMatchObject({ outcome: 'duplicate' });
    expect(session.closing).toBe(false);
    expect(textsOf(session.steering.entries)).toEqual(['[{"type":"text","text":"one"}]']);
    expect(eventsOf(session)).toHaveLength(1);
  });

  test('a rejected input is remembered with its reason', () => {
    const session = idleSession();
    const first = send(session, 'steer', { text: '', id: 'x' });
    expect(send(session, 'steer', { text: 'fine', id: 'x' })).toEqual({
      outcome: 'duplicate',
      first,
    });
    expect(eventsOf(session)).toMatchObject([{ type: 'rejected', id: 'x' }]);
  });

  test.each(['__proto__', 'constructor', '\ud800', ' ', 'x'.repeat(200)])(
    'any text of at most 200 characters is one: %j',
    (id) => {
      const session = idleSession();
      expect(send(session, 'steer', { text: 'a', id })).toEqual({ outcome: 'queued' });
      expect(send(session, 'steer', { text: 'a', id })).toMatchObject({ outcome: 'duplicate' });
    },
  );

  test('an empty, null or missing id is none', () => {
    const session = idleSession();
    for (const id of ['', null, '', null]) send(session, 'steer', { text: 'a', id });
    send(session, 'steer', 'a');
    send(session, 'steer', 'a');
    expect(session.steering.entries).toHaveLength(6);
  });

  test.each([5, true, [], {}, 'x'.repeat(201), '🦉'.repeat(500_000)])(
    'anything else is rejected: %#',
    (id) => {
      const session = idleSession();
      expect(send(session, 'steer', { text: 'a', id })).toEqual({
        outcome: 'rejected',
        reason: expect.stringMatching(/^id: expected a string of at most 200 characters, got /),
      });
      expect(session.steering.entries).toEqual([]);
    },
  );

  test('submit takes the id beside the message, or in it', () => {
    const session = idleSession();
    submit(session, { kind: 'steer', message: { text: 'a', id: 'x' } });
    expect(submit(session, { kind: 'steer', message: 'a', id: 'x' })).toMatchObject({
      outcome: 'duplicate',
    });
  });
});

describe('prompt', () => {
  test('starts a run, once', () => {
    const session = idleSession();
    expect(send(session, 'prompt', ['a', { content: [image] }])).toEqual({ outcome: 'started' });
    expect(session.pendingStart).toMatchObject({ kind: 'prompt', messages: [{}, {}] });
    expect(send(session, 'prompt', 'b')).toMatchObject({ outcome: 'rejected' });
    expect(session.pendingStart?.messages).toHaveLength(2);
  });

  test('is rejected while a run is active, after close, and in a run of its own', () => {
    const rejection = { outcome: 'rejected', reason: expect.stringMatching(/.+; .+\./) };
    expect(send(runningSession().session, 'prompt', 'a')).toEqual(rejection);
    const closing = idleSession();
    send(closing, 'close');
    expect(send(closing, 'prompt', 'a')).toEqual(rejection);
    expect(send(createSession('hi'), 'prompt', 'a')).toMatchObject({ outcome: 'rejected' });
  });

  test('finds a session that was started with a prompt busy before its first run', () => {
    const session = idleSession({ prompt: 'first' });
    expect(send(session, 'prompt', 'second')).toMatchObject({ outcome: 'rejected' });
    expect(session.pendingStart?.messages).toMatchObject([{ content: [{ text: 'first' }] }]);
  });

  test('that cannot be understood leaves the session idle', () => {
    const session = idleSession();
    expect(send(session, 'prompt', [])).toMatchObject({ outcome: 'rejected' });
    expect(session.isBusy).toBe(false);
  });
});

describe('continue', () => {
  test('is rejected on an empty transcript and runs on from a user message', () => {
    expect(send(idleSession(), 'continue')).toMatchObject({ outcome: 'rejected' });
    const session = idleSession({ messages: [{ role: 'user', content: 'x' }] });
    expect(send(session, 'continue')).toEqual({ outcome: 'started' });
    expect(session.pendingStart).toMatchObject({ kind: 'continue', messages: [] });
  });

  test('after an answer takes what is queued as the prompt', () => {
    const session = idleSession({
      messages: [{ role: 'user', content: 'x' }, assistantMessage([{ type: 'text', text: 'y' }])],
    });
    expect(send(session, 'continue')).toMatchObject({ outcome: 'rejected' });
    send(session, 'followUp', 'more');
    expect(send(session, 'continue')).toEqual({ outcome: 'started' });
    expect(session.followUp.entries).toEqual([]);
    expect(session.undelivered()).toMatchObject([{ preview: 'more' }]);
  });
});

describe('abort', () => {
  test('cancels the present run, with a reason or without', () => {
    for (const value of [undefined, { reason: 'enough' }, 'enough', 5, null]) {
      const { session, scope } = runningSession();
      expect(send(session, 'abort', value)).toEqual({ outcome: 'accepted' });
      expect(scope.consideredCancelled).toBe(true);
    }
  });

  test('its reason stands in the agent_end of the run it aborted, and of no other', () => {
    const agentEnd = { type: 'agent_end', messages: { from: 0, to: 0 } } as const;
    const session = idleSession();
    send(session, 'abort', { reason: 'nothing to stop' });
    for (const [stopReason, reason] of [
      ['aborted', 'enough'],
      ['stop', undefined],
      ['aborted', undefined],
    ] as const) {
      session.beginRun(fakeScope());
      send(session, 'abort', { reason });
      session.emit({ ...agentEnd, stopReason });
      session.endRun();
    }
    const { events } = session.events.page({}, session.transcript, true);
    expect(events.map((event) => ('reason' in event ? event.reason : undefined))).toEqual([
      'enough',
      undefined,
      undefined,
    ]);
  });

  test('when idle does nothing, also to the next run', () => {
    const session = idleSession();
    send(session, 'abort');
    const { scope } = begin(session);
    expect(scope.consideredCancelled).toBe(false);
  });

  test('between a start and its run aborts that run, and no later one', () => {
    const session = idleSession();
    send(session, 'prompt', 'a');
    send(session, 'abort');
    expect(begin(session).scope.consideredCancelled).toBe(true);
    session.endRun();
    expect(begin(session).scope.consideredCancelled).toBe(false);
  });

  test('that comes with the start aborts the run of a workflow of lifetime run', () => {
    const session = createSession('hi');
    send(session, 'abort');
    expect(begin(session).scope.consideredCancelled).toBe(true);
  });

  test('answers pending approvals', async () => {
    const { session } = runningSession();
    const outcomes = awaitApprovals(session, ['a', 'b']);
    send(session, 'abort');
    expect(await outcomes).toEqual([{ kind: 'aborted' }, { kind: 'aborted' }]);
  });

  function begin(session: AgentSession) {
    session.pendingStart = undefined;
    const { scope } = runningSession();
    session.beginRun(scope);
    return { scope };
  }
});

describe('approve and deny', () => {
  let session: AgentSession;
  beforeEach(() => {
    session = runningSession().session;
  });

  test.each<[SignalKind, unknown, unknown]>([
    ['approve', undefined, { kind: 'approved' }],
    ['approve', null, { kind: 'approved' }],
    ['approve', '', { kind: 'approved' }],
    ['approve', {}, { kind: 'approved' }],
    ['approve', 'call-1', { kind: 'approved' }],
    ['approve', { toolCallId: 'call-1' }, { kind: 'approved' }],
    ['approve', { toolCallId: null, reason: null }, { kind: 'approved' }],
    ['approve', { id: 'signal-1' }, { kind: 'approved' }],
    ['deny', undefined, { kind: 'denied' }],
    ['deny', {}, { kind: 'denied' }],
    ['deny', 'call-1', { kind: 'denied' }],
    ['deny', 'too risky', { kind: 'denied', reason: 'too risky' }],
    ['deny', { toolCallId: 'call-1', reason: 'no' }, { kind: 'denied', reason: 'no' }],
    ['deny', { reason: 'no' }, { kind: 'denied', reason: 'no' }],
    ['deny', { text: 'no' }, { kind: 'denied', reason: 'no' }],
  ])('%s with %j answers the only pending call', async (kind, value, outcome) => {
    const outcomes = awaitApprovals(session, ['call-1']);
    expect(send(session, kind, value)).toEqual({ outcome: 'accepted' });
    expect(await outcomes).toEqual([outcome]);
    expect(eventsOf(session)).toMatchObject([
      { type: 'approval_requested', toolCallId: 'call-1', toolName: 'bash' },
      { type: 'approval_resolved', toolCallId: 'call-1', approved: kind === 'approve' },
    ]);
  });

  test.each<[unknown]>([
    [true],
    [false],
    [0],
    [42],
    [[]],
    [['call-1']],
    ['call-2'],
    [{ toolCallId: 'call-2' }],
    [{ toolCallId: '' }],
    [{ toolCallId: 5 }],
    [{ toolCallId: ['call-1'] }],
    [{ toolcallid: 'call-2' }],
    [{ tool_call_id: 'call-2' }],
    [{ approved: false }],
    [{ reason: 5 }],
    [JSON.parse('{"__proto__":{"toolCallId":"call-1"}}')],
  ])('approve with %j approves nothing and is recorded as rejected', (value) => {
    void awaitApprovals(session, ['call-1']);
    expect(send(session, 'approve', value)).toMatchObject({ outcome: 'rejected' });
    expect(session.approvals.size).toBe(1);
    expect(eventsOf(session).at(-1)).toMatchObject({ type: 'rejected', kind: 'approve' });
  });

  test('with several pending, only the named one is answered', () => {
    void awaitApprovals(session, ['a', 'b']);
    expect(send(session, 'approve')).toMatchObject({ outcome: 'rejected' });
    expect(send(session, 'deny', 'some reason')).toMatchObject({ outcome: 'rejected' });
    expect(send(session, 'approve', 'b')).toEqual({ outcome: 'accepted' });
    expect([session.approvals.has('a'), session.approvals.has('b')]).toEqual([true, false]);
  });

  test('nothing pending is rejected', () => {
    expect(send(session, 'approve')).toEqual({
      outcome: 'rejected',
      reason: 'No approval is pending.',
    });
  });

  test('a reason of 1 MB is cut to 2,000 characters, in the outcome and in the event', async () => {
    const outcomes = awaitApprovals(session, ['a']);
    send(session, 'deny', { reason: '🦉'.repeat(250_000) });
    const [outcome] = await outcomes;
    expect(outcome).toEqual({ kind: 'denied', reason: `${'🦉'.repeat(1_000)}…` });
    expect(eventsOf(session).at(-1)).toMatchObject({ reason: `${'🦉'.repeat(1_000)}…` });
  });

  test('an id of 1 MB that is not pending leaves a short reason', () => {
    void awaitApprovals(session, ['a']);
    send(session, 'approve', { toolCallId: '\u0001'.repeat(300_000) });
    expectFits(session.events.page({}, session.transcript, true));
    expect(JSON.stringify(eventsOf(session).at(-1)).length).toBeLessThan(3_000);
  });
});

describe('submit', () => {
  test('answers what became of every kind of input', () => {
    const session = idleSession();
    expect(submit(session, { kind: 'steer', message: 'a' })).toEqual({ outcome: 'queued' });
    expect(submit(session, { kind: 'abort' })).toEqual({ outcome: 'accepted' });
    expect(submit(session, { kind: 'prompt', message: { text: 'a' } })).toEqual({
      outcome: 'started',
    });
    expect(submit(session, { kind: 'approve', message: null })).toMatchObject({
      outcome: 'rejected',
    });
    expect(submit(session, { kind: 'close' })).toEqual({ outcome: 'accepted' });
  });

  test.each<[unknown]>([
    [null],
    ['steer'],
    [[]],
    [5],
    [{}],
    [{ kind: 'dance' }],
    [{ kind: '__proto__' }],
    [{ kind: ['steer'] }],
    [{ kind: null, message: 'x' }],
  ])('%j is rejected with a reason', (value) => {
    const answer = submit(idleSession(), value);
    expect(answer).toEqual({ outcome: 'rejected', reason: expect.stringMatching(/.+\.$/) });
  });
});
