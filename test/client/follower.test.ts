// The follower against a session that answers as told: what no real server can be made to do at will.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { follow } from '../../src/client/follower.js';
import type { Answer, FollowedSession, SessionDescription } from '../../src/client/follower.js';
import type { FollowedEvent } from '../../src/client/index.js';
import type { EventsPage, EventsQuery, ReportedEvent } from '../../src/protocol/events.js';

const unreachable = (what: 'worker' | 'server') =>
  ({ kind: 'unreachable', what, reason: 'gone' }) as const;

function answer<T>(value: T): Answer<T> {
  return { kind: 'answer', value };
}

function event(seq: number): ReportedEvent {
  return { type: 'turn_start', turn: seq, seq, at: seq };
}

/** A session with this log, whose looks follow one another; the last is closed. */
class FakeSession implements FollowedSession {
  readonly asked: EventsQuery[] = [];
  readonly #log: readonly ReportedEvent[];
  readonly #looks: (Answer<SessionDescription> | Partial<SessionDescription>)[];
  failures: Answer<EventsPage>[] = [];
  first = 1;
  pageSize = 100;
  queryMs = 0;
  #inFlight = 0;
  mostInFlight = 0;
  #version = 0;

  constructor(
    log: readonly ReportedEvent[],
    looks: (Answer<SessionDescription> | Partial<SessionDescription>)[] = [],
  ) {
    this.#log = log;
    this.#looks = [...looks];
  }

  readonly describe = async (): Promise<Answer<SessionDescription>> => {
    const look = this.#looks.shift() ?? { closed: 'completed', version: 'closed' };
    if ('kind' in look) return look;
    this.#version += 1;
    return answer({ version: `${this.#version}`, closed: undefined, pending: [], ...look });
  };

  readonly events = async (query: EventsQuery): Promise<Answer<EventsPage>> => {
    this.asked.push(query);
    this.#inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.#inFlight);
    await sleep(this.queryMs);
    this.#inFlight -= 1;
    const failure = this.failures.shift();
    if (failure !== undefined) return failure;
    const { after = 0 } = query;
    const events = this.#log
      .filter(({ seq }) => seq > after && seq >= this.first)
      .slice(0, this.pageSize);
    return answer({ events, next: events.at(-1)?.seq ?? after, first: this.first, open: true });
  };

  readonly message = async (): Promise<Answer<never>> => unreachable('worker');
}

async function told(session: FollowedSession, after = 0): Promise<FollowedEvent[]> {
  const events: FollowedEvent[] = [];
  for await (const item of follow(session, { after })) events.push(item);
  return events;
}

const ended = { type: 'ended', status: 'completed', complete: true };

describe('follow', () => {
  test('reads all pages, one query at a time', async () => {
    const session = new FakeSession([1, 2, 3, 4, 5].map(event), [{}, {}]);
    session.pageSize = 2;
    session.queryMs = 5;
    expect(await told(session)).toEqual([...[1, 2, 3, 4, 5].map(event), ended]);
    expect(session.mostInFlight).toBe(1);
  });

  test('asks no query while history stays as it is', async () => {
    const same = { version: 'same' };
    const session = new FakeSession([event(1)], [same, same, same, same]);
    await told(session);
    // Two for the events and their end, two for the closed workflow's.
    expect(session.asked.length).toBeLessThanOrEqual(4);
  });

  test('tells a late reader what it lost, and goes on from there', async () => {
    const session = new FakeSession([1, 2, 3, 4].map(event));
    session.first = 3;
    expect(await told(session)).toEqual([
      { type: 'lost', from: 1, to: 2 },
      event(3),
      event(4),
      ended,
    ]);
    const late = new FakeSession([1, 2, 3, 4].map(event));
    late.first = 3;
    expect(await told(late, 2)).toEqual([event(3), event(4), ended]);
  });

  test('tells an outage of the server once, and that it is over', async () => {
    const session = new FakeSession([event(1)], [unreachable('server'), unreachable('server')]);
    expect(await told(session)).toEqual([
      { type: 'unreachable', what: 'server', reason: 'gone' },
      { type: 'reachable' },
      event(1),
      ended,
    ]);
  });

  test('an outage after the events were read does not make them told again', async () => {
    const session = new FakeSession([event(1)], [{ version: 'a' }, unreachable('server')]);
    const types = (await told(session)).map(({ type }) => type);
    expect(types).toEqual(['turn_start', 'unreachable', 'reachable', 'ended']);
  });

  test('a query that nobody answers is asked again', async () => {
    const session = new FakeSession([event(1)], [{ version: 'a' }, { version: 'a' }]);
    session.failures = [unreachable('worker')];
    expect(await told(session)).toEqual([
      { type: 'unreachable', what: 'worker', reason: 'gone' },
      { type: 'reachable' },
      event(1),
      ended,
    ]);
  });

  test('a slow answer is told as an outage while it is waited for', async () => {
    const session = new FakeSession([event(1)]);
    session.queryMs = 3_300;
    const types = (await told(session)).map(({ type }) => type);
    expect(types).toEqual([
      'unreachable',
      'reachable',
      'turn_start',
      'unreachable',
      'reachable',
      'ended',
    ]);
  });

  test('a workflow that is no agent is an error, one that refused its input has ended', async () => {
    const refused = { kind: 'refused', error: new Error('no agent') } as const;
    const foreign = new FakeSession([], [{}, {}, {}]);
    foreign.failures = [refused, refused, refused];
    await expect(told(foreign)).rejects.toThrow('no agent');
    const failed = new FakeSession([], [{}]);
    failed.failures = [refused, refused];
    expect(await told(failed)).toEqual([ended]);
  });

  test('live views are those of a look that is newer than the events told', async () => {
    const pending = [
      {
        key: 'run/1',
        activityId: '1',
        attempt: 1,
        view: {
          kind: 'model',
          turn: 1,
          attempt: 1,
          text: { offset: 0, tail: 'Hi' },
          thinking: { offset: 0, tail: '' },
          providerFailures: 0,
        },
      },
    ] as const;
    const session = new FakeSession(
      [event(1)],
      [
        { version: 'a', pending },
        { version: 'a', pending },
      ],
    );
    const types = (await told(session)).map(({ type }) => type);
    expect(types).toEqual(['turn_start', 'message_update', 'ended']);
  });
});
