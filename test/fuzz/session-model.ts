// What becomes of what people send, said as plainly as possible: product.md's table of signals as a small
// state machine. It knows which inputs are messages from input-contract.ts, and nothing of the session's code.

import type { SignalKind } from '../../src/protocol/events.js';
import { parsePrompt } from '../../src/protocol/message-input.js';
import type { InputMessage } from '../../src/protocol/messages.js';
import type { QueueMode } from '../../src/protocol/session.js';
import { mayBeInputMessage, mayBePrompt } from './input-contract.js';

export type Outcome = 'started' | 'queued' | 'accepted' | 'rejected';
export type Answer = { readonly outcome: Outcome } | { readonly duplicateOf: Outcome };

/** What the session logs, in short. */
export interface ModelEvent {
  readonly type: 'queued' | 'rejected' | 'approval_requested' | 'approval_resolved';
  readonly kind?: SignalKind;
  readonly id?: string;
  readonly toolCallId?: string;
  readonly approved?: boolean;
}

interface Queued {
  readonly id: string | undefined;
  readonly message: InputMessage;
}

const kinds: readonly unknown[] = [
  'steer',
  'followUp',
  'prompt',
  'continue',
  'abort',
  'approve',
  'deny',
  'close',
];
const rememberedIds = 1_000;

export class SessionModel {
  readonly events: ModelEvent[] = [];
  readonly steering: Queued[] = [];
  readonly followUps: Queued[] = [];
  readonly approvals = new Set<string>();
  /** What approvals came to, by call. */
  readonly answered = new Map<string, 'approved' | 'denied' | 'aborted'>();
  /** Roles at the end of the transcript: all that `continue` looks at. */
  readonly transcript: ('user' | 'custom' | 'assistant' | 'failed')[] = [];
  /** Messages that a start brings in when its run begins. */
  starting: readonly InputMessage[] | undefined;
  running = false;
  aborted = false;
  closing = false;
  closed = false;

  readonly #lifetime: 'run' | 'session';
  readonly #modes: { readonly steering: QueueMode; readonly followUps: QueueMode };
  readonly #ids: (readonly [id: string, outcome: Outcome])[] = [];
  #abortsNextRun = false;
  /** Ids that counted, remembered or not. */
  idsSeen = 0;
  #runs = 0;

  constructor(
    lifetime: 'run' | 'session',
    modes: { readonly steering: QueueMode; readonly followUps: QueueMode },
  ) {
    this.#lifetime = lifetime;
    this.#modes = modes;
  }

  /** A signal with its argument; undefined when it has none, or null. */
  signal(kind: SignalKind, argument: unknown): Answer {
    return this.#accept(kind, argument ?? undefined, fieldsOf(argument)['id']);
  }

  /** The update: `{kind, message, id}`, where the id may also stand in the message. */
  submit(argument: unknown): Answer {
    const { kind, message, id } = fieldsOf(argument);
    if (!kinds.includes(kind)) return { outcome: 'rejected' };
    return this.#accept(kind as SignalKind, message ?? undefined, id ?? fieldsOf(message)['id']);
  }

  #accept(kind: SignalKind, argument: unknown, id: unknown): Answer {
    const none = id === undefined || id === null || id === '';
    if (!none && (typeof id !== 'string' || id.length > 200)) return this.#reject(kind, undefined);
    const known = none ? undefined : (id as string);
    // The same id twice counts once; the last 1,000 ids across all kinds are remembered.
    const first = this.#ids.find(([other]) => other === known);
    if (first !== undefined) return { duplicateOf: first[1] };
    const answer = this.#carryOut(kind, argument, known);
    if (known !== undefined) {
      this.idsSeen += 1;
      this.#ids.push([known, answer.outcome]);
    }
    if (this.#ids.length > rememberedIds) this.#ids.shift();
    return answer;
  }

  #carryOut(kind: SignalKind, argument: unknown, id: string | undefined): { outcome: Outcome } {
    if (this.closed) return this.#reject(kind, id);
    switch (kind) {
      case 'steer':
      case 'followUp': {
        if (!mayBeInputMessage(argument)) return this.#reject(kind, id);
        const [message] = messagesOf(argument);
        this[kind === 'steer' ? 'steering' : 'followUps'].push({ id, message } as Queued);
        this.events.push({ type: 'queued', kind, ...(id !== undefined && { id }) });
        return { outcome: 'queued' };
      }
      case 'prompt':
        if (!this.#takesStarts() || !mayBePrompt(argument)) return this.#reject(kind, id);
        this.starting = messagesOf(argument);
        return { outcome: 'started' };
      case 'continue': {
        const batch = this.#takesStarts() ? this.#continuation() : undefined;
        if (batch === undefined) return this.#reject(kind, id);
        this.starting = batch;
        return { outcome: 'started' };
      }
      case 'abort':
        this.#abort();
        return { outcome: 'accepted' };
      case 'approve':
      case 'deny':
        return this.#answer(kind, argument, id);
      case 'close':
        this.closing = true;
        return { outcome: 'accepted' };
    }
  }

  /** Rejected while a run is active, from its acceptance on; and where none can begin. */
  #takesStarts(): boolean {
    return (
      this.#lifetime === 'session' && !this.closing && !this.running && this.starting === undefined
    );
  }

  /** agent-loop.md, section 2, `continue`. */
  #continuation(): readonly InputMessage[] | undefined {
    const tail = this.transcript.findLast((role) => role !== 'failed');
    if (tail === undefined) return undefined;
    if (tail !== 'assistant') return [];
    for (const queue of ['steering', 'followUps'] as const) {
      const batch = this.take(queue);
      if (batch.length > 0) return batch;
    }
    return undefined;
  }

  #abort(): void {
    const begins = this.starting !== undefined || (this.#lifetime === 'run' && this.#runs === 0);
    if (this.running) this.aborted = true;
    else if (begins) this.#abortsNextRun = true;
    if (this.running) this.#abortApprovals();
  }

  #abortApprovals(): void {
    for (const id of this.approvals) this.answered.set(id, 'aborted');
    this.approvals.clear();
  }

  /** `{toolCallId, reason}`, or a bare id; no id means the only pending one. What is not understood approves nothing. */
  #answer(kind: 'approve' | 'deny', argument: unknown, id: string | undefined) {
    const fields = fieldsOf(argument);
    const names = ['toolCallId', 'reason', 'text', 'id', 'agent'];
    const isText = typeof argument === 'string';
    const isKnown =
      argument === undefined ||
      isText ||
      (isObject(argument) && Object.keys(argument).every((name) => names.includes(name)));
    if (!isKnown) return this.#reject(kind, id);
    let named = isText && argument !== '' ? argument : (fields['toolCallId'] ?? undefined);
    // `deny` is mostly said with a reason.
    if (kind === 'deny' && isText && !this.approvals.has(argument)) named = undefined;
    const reason = fields['reason'] ?? fields['text'] ?? '';
    if (named !== undefined && typeof named !== 'string') return this.#reject(kind, id);
    if (typeof reason !== 'string') return this.#reject(kind, id);
    const [only, ...others] = this.approvals;
    const meant = named ?? (others.length === 0 ? only : undefined);
    if (meant === undefined || !this.approvals.has(meant)) return this.#reject(kind, id);
    this.approvals.delete(meant);
    const approved = kind === 'approve';
    this.answered.set(meant, approved ? 'approved' : 'denied');
    this.events.push({ type: 'approval_resolved', toolCallId: meant, approved });
    return { outcome: 'accepted' as const };
  }

  #reject(kind: SignalKind, id: string | undefined): { readonly outcome: 'rejected' } {
    this.events.push({ type: 'rejected', kind, ...(id !== undefined && { id }) });
    return { outcome: 'rejected' };
  }

  // What the session itself does, between what people send.

  beginRun(): void {
    this.transcript.push(...(this.starting ?? []).map(({ role }) => role));
    this.starting = undefined;
    this.running = true;
    this.#runs += 1;
    this.aborted = this.#abortsNextRun;
    this.#abortsNextRun = false;
  }

  endRun(): void {
    this.running = false;
    this.aborted = false;
  }

  ask(ids: readonly string[]): void {
    for (const id of ids) {
      this.approvals.add(id);
      this.events.push({ type: 'approval_requested', toolCallId: id });
    }
  }

  take(queue: 'steering' | 'followUps'): readonly InputMessage[] {
    const count = this.#modes[queue] === 'all' ? Infinity : 1;
    return this[queue].splice(0, count).map(({ message }) => message);
  }

  get status(): string {
    if (this.closed) return 'closed';
    if (!this.running) return this.starting === undefined ? 'idle' : 'starting';
    return this.approvals.size > 0 ? 'waiting_for_approval' : 'starting';
  }
}

function isObject(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Own fields only: `constructor` is none that anyone sent. */
function fieldsOf(value: unknown): { readonly [field: string]: unknown } {
  return isObject(value) ? Object.fromEntries(Object.entries(value)) : {};
}

/** Their known fields; that these are read rightly is a property of its own. */
function messagesOf(argument: unknown): readonly InputMessage[] {
  const parsed = parsePrompt(argument, 'message');
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.value;
}
