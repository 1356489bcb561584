// Signals, queries and the update of the workflow. Every input is taken raw, so that a payload nobody
// can decode reaches a handler that records it as rejected, instead of failing the Workflow Task for ever.
//
// A definition with raw type info cannot encode plain values: clients signal by name.

import { rawValueTypeInfo } from '@temporalio/common';
import type { RawValue, TypeInfo } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { EventsPage, SignalKind } from './events.js';
import type {
  Addressed,
  AgentState,
  ContextPage,
  MessagesPage,
  ResponseMessage,
} from './session.js';

/**
 * Raw type info for an argument at any position: one more argument than a definition lists would be
 * decoded by the converter, whose exception fails the Workflow Task for ever.
 */
export const everyArgumentRaw: readonly TypeInfo[] = new Proxy([], {
  get: (target, property) =>
    typeof property === 'string' && /^\d+$/.test(property)
      ? rawValueTypeInfo
      : (Reflect.get(target, property) as unknown),
});

/** Encoding of the payload that a worker puts in the place of a reference into external storage. */
export const refusedReferenceEncoding = 'holdfast/refused-reference';

const raw = { typeInfo: { inputTypes: everyArgumentRaw } };

export const steerSignal = defineSignal<[RawValue?]>('steer', raw);
export const followUpSignal = defineSignal<[RawValue?]>('followUp', raw);
export const promptSignal = defineSignal<[RawValue?]>('prompt', raw);
export const continueSignal = defineSignal<[RawValue?]>('continue', raw);
export const abortSignal = defineSignal<[RawValue?]>('abort', raw);
export const approveSignal = defineSignal<[RawValue?]>('approve', raw);
export const denySignal = defineSignal<[RawValue?]>('deny', raw);
export const closeSignal = defineSignal<[RawValue?]>('close', raw);

/** Argument of the update `submit`; `message` is what the signal of that kind takes. */
export interface SubmitInput extends Addressed {
  readonly kind: SignalKind;
  readonly message?: unknown;
  readonly id?: string;
}

/** What became of an input. */
export type SubmitOutcome =
  /** It began an agent run. */
  | { readonly outcome: 'started' }
  /** It waits in a queue. */
  | { readonly outcome: 'queued' }
  /** It took effect at once: `abort`, `approve`, `deny`, `close`. */
  | { readonly outcome: 'accepted' }
  | { readonly outcome: 'rejected'; readonly reason: string }
  /** The id was seen before; `first` is what became of it then. */
  | {
      readonly outcome: 'duplicate';
      readonly first: Exclude<SubmitOutcome, { outcome: 'duplicate' }>;
    };

export const submitUpdate = defineUpdate<SubmitOutcome, [RawValue?]>('submit', raw);

export const stateQuery = defineQuery<AgentState, [RawValue?]>('state', raw);
export const eventsQuery = defineQuery<EventsPage, [RawValue?]>('events', raw);
export const messagesQuery = defineQuery<MessagesPage, [RawValue?]>('messages', raw);
export const responseQuery = defineQuery<ResponseMessage | null, [RawValue?]>('response', raw);
/** For workers: system prompts, tool lists and large arguments by their digest. */
export const contextQuery = defineQuery<ContextPage, [RawValue?]>('context', raw);
