// Follows a session: its logged events by query, live views by describe.
//
// Describe needs no worker and costs the session nothing, so it sets the pace; the query is asked only
// when history has grown, one at a time. "No answer" is never taken for "the end": only describe says
// that a workflow is closed.

import { setTimeout as sleep } from 'node:timers/promises';
import type { EventsPage, EventsQuery, ReportedEvent } from '../protocol/events.js';
import type { Message } from '../protocol/messages.js';
import type { CloseStatus, FollowedEvent, FollowedLoggedEvent } from './followed-events.js';
import { LiveUpdates } from './live-updates.js';
import type { PendingActivity } from './live-updates.js';

export interface SessionDescription {
  /** Differs when history has grown or the workflow's status has changed. */
  readonly version: string;
  /** Undefined while it is open. */
  readonly closed: CloseStatus | undefined;
  readonly pending: readonly PendingActivity[];
}

/** What became of a call that may find nobody. Other failures are thrown. */
export type Answer<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'unreachable'; readonly what: 'worker' | 'server'; readonly reason: string }
  /** The workflow has no such query: it is no agent, or it failed before it was one. */
  | { readonly kind: 'refused'; readonly error: Error };

/** A session as the follower sees it. Every call ends within a deadline of its own. */
export interface FollowedSession {
  readonly describe: () => Promise<Answer<SessionDescription>>;
  readonly events: (query: EventsQuery) => Promise<Answer<EventsPage>>;
  readonly message: (index: number) => Promise<Answer<Message>>;
}

export interface FollowOptions {
  /** Tell events with a higher `seq`. Default 0: from the first. */
  readonly after?: number;
  /** Also what is never logged: `message_update`, `tool_execution_update`, `retry`. Default true. */
  readonly live?: boolean;
  /** Ends the iteration, without an `ended`. */
  readonly signal?: AbortSignal;
}

const pace = {
  /** Between looks while an activity is pending: what it shows may change at any time. */
  activeMs: 150,
  /** The longest between looks at an idle session. */
  idleMs: 500,
  /** After events were read: live views wait for a look that is newer than the events. */
  afterEventsMs: 20,
  /** Between looks while nobody answers. */
  unreachableMs: 500,
  /** A query unanswered for so long is reported, and waited for. */
  slowMs: 3_000,
  /** A pending activity that shows nothing for so long may wait for a worker: a query finds out. */
  silentMs: 4_000,
  /** How long the last events of a closed workflow are asked for. */
  closedMs: 10_000,
} as const;

export async function* follow(
  session: FollowedSession,
  options: FollowOptions = {},
): AsyncGenerator<FollowedEvent, void, undefined> {
  yield* new Follower(session, options).run();
}

class Follower {
  readonly #session: FollowedSession;
  readonly #live: boolean;
  readonly #signal: AbortSignal | undefined;
  /** Resolves when the iteration is to stop. */
  readonly #stopped: Promise<undefined>;
  readonly #updates = new LiveUpdates();
  #after: number;
  /** Whose events these are, in a workflow of one's own; its other activities are no affair of this one. */
  #agent: string | undefined;
  /** The version whose events have all been read. */
  #read: string | undefined;
  #isUnreachable = false;
  /** Confirmed when a look after the first refusal still found the workflow open. */
  #refusal: { readonly error: Error; readonly isConfirmed: boolean } | undefined;
  #closedSince: number | undefined;
  /** When something last came from a worker. */
  #heardAt = Date.now();

  constructor(session: FollowedSession, { after = 0, live = true, signal }: FollowOptions) {
    this.#session = session;
    this.#live = live;
    this.#signal = signal;
    this.#stopped = new Promise((resolve) => {
      signal?.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    this.#after = after;
  }

  async *run(): AsyncGenerator<FollowedEvent, void, undefined> {
    let pauseMs: number = pace.activeMs;
    while (!this.#isStopped()) {
      const look = await this.#session.describe();
      if (this.#isStopped()) return;
      if (look.kind === 'refused') throw look.error;
      if (look.kind === 'unreachable') {
        yield* this.#unreachable(look.what, look.reason);
        await this.#pause(pace.unreachableMs);
        continue;
      }
      const { version, closed } = look.value;
      const pending = look.value.pending.filter(({ agent }) => agent === this.#agent);
      if (version === this.#read && this.#live) yield* this.#update(pending);
      if (version !== this.#read || this.#isUnreachable || this.#isSilent(pending)) {
        const isRead = yield* this.#readEvents();
        if (this.#isStopped()) return;
        if (this.#refusal !== undefined) {
          // Input that was refused closes the workflow before it has events.
          if (closed !== undefined) {
            yield { type: 'ended', status: closed, complete: true };
            return;
          }
          if (this.#refusal.isConfirmed) throw this.#refusal.error;
        }
        if (isRead) this.#read = version;
        if (closed !== undefined && (isRead || this.#isClosedForLong())) {
          yield { type: 'ended', status: closed, complete: isRead };
          return;
        }
        pauseMs = isRead ? pace.afterEventsMs : pace.unreachableMs;
      } else {
        const isActive = this.#live && pending.length > 0;
        pauseMs = isActive
          ? pace.activeMs
          : Math.min(pace.idleMs, Math.max(pace.activeMs, pauseMs * 1.3));
      }
      await this.#pause(pauseMs);
    }
  }

  /** Tells all events there are. False: nobody answered. */
  async *#readEvents(): AsyncGenerator<FollowedEvent, boolean, undefined> {
    for (;;) {
      const asked = this.#after;
      const answer = yield* this.#patiently(this.#session.events({ after: asked }));
      if (answer === undefined) return false;
      this.#agent = answer.agent;
      if (answer.first > asked + 1) {
        yield { type: 'lost', from: asked + 1, to: answer.first - 1 };
        this.#after = answer.first - 1;
      }
      for (const event of answer.events) {
        const whole = yield* this.#complete(event);
        if (whole === undefined) return false;
        this.#after = event.seq;
        yield whole;
        if (this.#isStopped()) return false;
      }
      if (answer.events.length === 0) return true;
    }
  }

  /** Puts in the message that was too large for the page, and says what of it is left to show. */
  async *#complete(
    event: ReportedEvent,
  ): AsyncGenerator<FollowedEvent, FollowedLoggedEvent | undefined, undefined> {
    if (event.type !== 'message_end') return event;
    let content = event.content;
    if (content === undefined) {
      content = yield* this.#patiently(this.#session.message(event.message));
      if (content === undefined) return undefined;
    }
    const left = content.role === 'assistant' ? this.#updates.messageEnded(content) : {};
    return { ...event, content, ...left };
  }

  /** Waits for an answer, telling when it is long in coming. Undefined: nobody answered. */
  async *#patiently<T>(
    call: Promise<Answer<T>>,
  ): AsyncGenerator<FollowedEvent, T | undefined, undefined> {
    const slow = new AbortController();
    try {
      let answer = await Promise.race([call, this.#pause(pace.slowMs, slow.signal)]);
      if (answer === undefined && !this.#isStopped()) {
        yield* this.#unreachable('worker', 'no answer yet');
        answer = await Promise.race([call, this.#stopped]);
      }
      if (answer === undefined) return undefined;
      if (answer.kind === 'unreachable') {
        yield* this.#unreachable(answer.what, answer.reason);
        return undefined;
      }
      if (answer.kind === 'refused') {
        this.#refusal = { error: answer.error, isConfirmed: this.#refusal !== undefined };
        return undefined;
      }
      this.#heardAt = Date.now();
      yield* this.#reachable();
      return answer.value;
    } finally {
      slow.abort();
    }
  }

  *#unreachable(what: 'worker' | 'server', reason: string): Generator<FollowedEvent, void> {
    if (this.#isUnreachable) return;
    this.#isUnreachable = true;
    yield { type: 'unreachable', what, reason };
  }

  *#reachable(): Generator<FollowedEvent, void> {
    if (!this.#isUnreachable) return;
    this.#isUnreachable = false;
    yield { type: 'reachable' };
  }

  *#update(pending: readonly PendingActivity[]): Generator<FollowedEvent, void> {
    for (const update of this.#updates.update(pending)) {
      if (update.type !== 'retry') this.#heardAt = Date.now();
      yield update;
    }
  }

  #isSilent(pending: readonly PendingActivity[]): boolean {
    return pending.length > 0 && Date.now() - this.#heardAt > pace.silentMs;
  }

  #isClosedForLong(): boolean {
    this.#closedSince ??= Date.now();
    return Date.now() - this.#closedSince >= pace.closedMs;
  }

  #isStopped(): boolean {
    return this.#signal?.aborted === true;
  }

  /** Ends early when the iteration is to stop, or `signal` says so. */
  async #pause(milliseconds: number, signal?: AbortSignal): Promise<undefined> {
    const signals = [this.#signal, signal].filter((one) => one !== undefined);
    await sleep(milliseconds, undefined, { signal: AbortSignal.any(signals) }).catch(() => {});
    return undefined;
  }
}
