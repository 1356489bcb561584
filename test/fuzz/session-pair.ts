// A session and its model, which are told the same and must be found the same after each step.

import { expect } from 'vitest';
import type { AgentEvent, SignalKind } from '../../src/protocol/events.js';
import type { SubmitOutcome } from '../../src/protocol/handlers.js';
import type { JsonValue } from '../../src/protocol/json.js';
import type { InputMessage } from '../../src/protocol/messages.js';
import type { Lifetime, QueueMode } from '../../src/protocol/session.js';
import type { AgentSession } from '../../src/workflows/agent-session.js';
import { decodePayload } from '../../src/workflows/payload.js';
import { takeBatch } from '../../src/workflows/queues.js';
import { acceptInput, acceptSubmit } from '../../src/workflows/session-inputs.js';
import { stateOf } from '../../src/workflows/session-state.js';
import {
  awaitApprovals,
  createSession,
  fakeScope,
  rawBytes,
  rawOf,
} from '../support/fake-session.js';
import { assistantMessage } from '../support/loop-values.js';
import { expectFits } from '../support/pages.js';
import { SessionModel } from './session-model.js';
import type { Answer } from './session-model.js';

/** What a session does of itself, between what people send. */
export type OwnStep =
  | 'begin run'
  | 'end run'
  | 'take steering'
  | 'take follow-ups'
  | 'answer'
  | 'fail';

export type Command =
  | { readonly kind: 'signal'; readonly name: SignalKind; readonly argument: JsonValue | undefined }
  | { readonly kind: 'garbage'; readonly name: SignalKind; readonly bytes: Uint8Array }
  | { readonly kind: 'submit'; readonly argument: JsonValue }
  | { readonly kind: 'flood'; readonly upTo: number }
  | {
      readonly kind:
        | 'begin run'
        | 'end run'
        | 'take steering'
        | 'take follow-ups'
        | 'answer'
        | 'fail';
    }
  | { readonly kind: 'ask'; readonly calls: readonly string[] };

export interface PairSetting {
  readonly lifetime: Lifetime;
  readonly steeringMode: QueueMode;
  readonly followUpMode: QueueMode;
  readonly prompt: string | undefined;
}

/** A session and its model, which are told the same. */
export class SessionPair {
  readonly #session: AgentSession;
  readonly #model: SessionModel;
  readonly #answered = new Map<string, string>();
  /** Messages that a run has taken in, and those of the model. */
  readonly #taken: InputMessage[] = [];
  readonly #expected: InputMessage[] = [];
  #floods = 0;

  constructor({ lifetime, steeringMode, followUpMode, prompt }: PairSetting) {
    this.#session = createSession({
      lifetime,
      steeringMode,
      followUpMode,
      ...(lifetime === 'run' ? { prompt: 'only' } : prompt === undefined ? {} : { prompt }),
    });
    this.#model = new SessionModel(lifetime, { steering: steeringMode, followUps: followUpMode });
    if (lifetime === 'session' && prompt !== undefined) this.#model.signal('prompt', prompt);
  }

  async take(given: Command): Promise<void> {
    const session = this.#session;
    const model = this.#model;
    switch (given.kind) {
      case 'signal': {
        const raw = given.argument === undefined ? undefined : rawOf(given.argument);
        const outcome = acceptInput(session, given.name, decodePayload(raw));
        expectSame(outcome, model.signal(given.name, given.argument));
        break;
      }
      case 'submit':
        expectSame(
          acceptSubmit(session, decodePayload(rawOf(given.argument))),
          model.submit(given.argument),
        );
        break;
      case 'garbage': {
        // No JSON: a byte that UTF-8 does not have comes first.
        const raw = rawBytes(new Uint8Array([0xff, ...given.bytes]));
        expect(acceptInput(session, given.name, decodePayload(raw)).outcome).toBe('rejected');
        model.events.push({ type: 'rejected', kind: given.name });
        break;
      }
      case 'flood':
        this.#flood(given.upTo);
        break;
      case 'ask':
        this.#ask(given.calls);
        break;
      case 'begin run':
      case 'end run':
      case 'take steering':
      case 'take follow-ups':
      case 'answer':
      case 'fail':
        this.#goOn(given.kind);
    }
    // Approvals are answered by promises.
    await new Promise(setImmediate);
    this.#expectSameState();
  }

  /** Sends so many ids in all. */
  #flood(upTo: number): void {
    this.#floods += 1;
    const missing = upTo - this.#model.idsSeen;
    for (let n = 0; n < missing; n++) {
      const value = { toolCallId: 'none', id: `flood ${this.#floods} ${n}` };
      expectSame(
        acceptInput(this.#session, 'deny', decodePayload(rawOf(value))),
        this.#model.signal('deny', value),
      );
    }
  }

  #ask(calls: readonly string[]): void {
    const fresh = calls.filter((id) => !this.#model.approvals.has(id));
    // Nothing is asked outside of a run or after its abort.
    if (!this.#model.running || this.#model.aborted || fresh.length < calls.length) return;
    for (const id of calls) {
      this.#answered.delete(id);
      this.#model.answered.delete(id);
      void awaitApprovals(this.#session, [id]).then(([outcome]) =>
        this.#answered.set(id, outcome?.kind ?? ''),
      );
    }
    this.#model.ask(calls);
  }

  /** What the session does of itself, where it can. */
  #goOn(kind: OwnStep): void {
    const session = this.#session;
    const model = this.#model;
    if (kind === 'begin run') {
      const onItsOwn = session.input.lifetime === 'run' && session.runs === 0 && !model.closed;
      if (model.running || (model.starting === undefined && !onItsOwn)) return;
      const start = session.pendingStart?.messages ?? [];
      expect(start).toEqual(model.starting ?? []);
      this.#taken.push(...start);
      this.#expected.push(...(model.starting ?? []));
      session.pendingStart = undefined;
      for (const message of start) session.append(message);
      session.beginRun(fakeScope());
      model.beginRun();
      return;
    }
    if (!model.running) return;
    if (kind === 'end run' && model.approvals.size === 0) {
      session.endRun();
      model.endRun();
      if (!model.closing && session.input.lifetime === 'session') return;
      session.close();
      model.closed = true;
    }
    if (kind === 'take steering' || kind === 'take follow-ups') {
      const queue = kind === 'take steering' ? session.steering : session.followUp;
      const taken = takeBatch(queue);
      const expected = model.take(kind === 'take steering' ? 'steering' : 'followUps');
      for (const message of taken) session.append(message);
      model.transcript.push(...expected.map(({ role }) => role));
      this.#taken.push(...taken);
      this.#expected.push(...expected);
    }
    if (kind === 'answer' || kind === 'fail') {
      session.append(assistantMessage([], kind === 'answer' ? 'stop' : 'error'));
      model.transcript.push(kind === 'answer' ? 'assistant' : 'failed');
    }
  }

  #expectSameState(): void {
    const session = this.#session;
    const model = this.#model;
    expect(session.steering.entries.map(({ id, message }) => ({ id, message }))).toEqual(
      model.steering,
    );
    expect(session.followUp.entries.map(({ id, message }) => ({ id, message }))).toEqual(
      model.followUps,
    );
    expect(session.pendingStart?.messages).toEqual(model.starting);
    expect(session.runScope?.consideredCancelled ?? false).toBe(model.aborted);
    expect([...this.#answered]).toEqual([...model.answered]);
    const state = stateOf(session);
    expectFits(state);
    expect(state.status).toBe(model.status);
    expect([state.queues.steeringLength, state.queues.followUpLength]).toEqual([
      model.steering.length,
      model.followUps.length,
    ]);
  }

  /** At the end: what was logged, and where every message is. */
  expectAllAccounted(): void {
    const page = this.#session.events.page({}, this.#session.transcript, true);
    expectFits(page);
    if (page.events.length === this.#model.events.length) {
      expect(page.events.map((event) => inShort(event))).toEqual(this.#model.events);
    } else expect(page.next).toBeLessThan(this.#model.events.length);
    expect(this.#taken).toEqual(this.#expected);
    const left = [
      ...(this.#model.starting ?? []),
      ...this.#model.steering.map(({ message }) => message),
      ...this.#model.followUps.map(({ message }) => message),
    ];
    const undelivered = this.#session.undelivered();
    if (undelivered.length < left.length)
      expect(JSON.stringify(undelivered).length).toBeGreaterThan(30_000);
  }
}

function expectSame(outcome: SubmitOutcome, answer: Answer): void {
  if ('duplicateOf' in answer) {
    expect(outcome).toMatchObject({ outcome: 'duplicate', first: { outcome: answer.duplicateOf } });
    return;
  }
  expect(outcome.outcome).toBe(answer.outcome);
  if (outcome.outcome !== 'rejected') return;
  expect(outcome.reason).toMatch(/^.{5,2001}$/su);
  expect(Buffer.from(outcome.reason).toString()).toBe(outcome.reason);
}

function inShort(event: AgentEvent) {
  const { type } = event;
  if (event.type === 'queued' || event.type === 'rejected') {
    return { type, kind: event.kind, ...(event.id !== undefined && { id: event.id }) };
  }
  if (event.type === 'approval_requested') return { type, toolCallId: event.toolCallId };
  if (event.type !== 'approval_resolved') return event;
  return { type, toolCallId: event.toolCallId, approved: event.approved };
}
