// Registers the signals, the update and the queries of a workflow's agents. Handlers only decode and
// delegate; the descriptions appear in `temporal workflow metadata` and in the Web UI.

import type { RawValue } from '@temporalio/common';
import { setHandler } from '@temporalio/workflow';
import type { SignalDefinition } from '@temporalio/workflow';
import type { SignalKind } from '../protocol/events.js';
import {
  abortSignal,
  approveSignal,
  closeSignal,
  contextQuery,
  continueSignal,
  denySignal,
  eventsQuery,
  followUpSignal,
  messagesQuery,
  promptSignal,
  responseQuery,
  stateQuery,
  steerSignal,
  submitUpdate,
} from '../protocol/handlers.js';
import { acceptSignal, acceptUpdate } from './addressed-inputs.js';
import type { AgentSession } from './agent-session.js';
import type { Agents } from './agents.js';
import { decodePayload, queryArgument, wholeNumber } from './payload.js';
import { responseOf, stateOf } from './session-state.js';

type Signal = SignalDefinition<[RawValue?]>;

const signals: { readonly [Kind in SignalKind]: readonly [Signal, string] } = {
  steer: [
    steerSignal,
    'Queue a message; it enters before the next model call. "text" or a message.',
  ],
  followUp: [
    followUpSignal,
    'Queue a message; it enters when the run would end. "text" or a message.',
  ],
  prompt: [promptSignal, 'Session: start an agent run. "text", a message or a list of messages.'],
  continue: [continueSignal, 'Session: run on from the present transcript. No argument.'],
  abort: [abortSignal, 'Stop the present agent run. Optional {"reason": "…"}.'],
  approve: [
    approveSignal,
    'Let a waiting tool call run. {"toolCallId": "…"}, or nothing if one waits.',
  ],
  deny: [denySignal, 'Refuse a waiting tool call. {"toolCallId": "…", "reason": "…"}, or nothing.'],
  close: [closeSignal, 'Finish the present agent run, then end the session. No argument.'],
};

/** Handlers of one's own that are registered later, under the same name, take the place of these. */
export function registerHandlers(agents: Agents): void {
  for (const kind of Object.keys(signals) as SignalKind[]) {
    const [definition, description] = signals[kind];
    const handle = (raw?: RawValue) =>
      onceBegun(agents, () => acceptSignal(agents, kind, decodePayload(raw)));
    setHandler(definition, handle, { description });
  }
  setHandler(
    submitUpdate,
    (raw) => onceBegun(agents, () => acceptUpdate(agents, decodePayload(raw))),
    {
      description:
        'Send any input and learn what became of it. {"kind": "steer", "message": …, "id"?}.',
    },
  );
  setHandler(stateQuery, (raw) => stateOf(addressed(agents, raw), agents.names), {
    description: 'Status, turn, model, pending tool calls, queues, approvals, usage.',
  });
  setHandler(
    eventsQuery,
    (raw) => {
      const { own, events, transcript, closed } = addressed(agents, raw);
      const { after, limit } = pageArgument(raw);
      const page = events.page(
        { ...(after === undefined ? {} : { after }), ...(limit === undefined ? {} : { limit }) },
        transcript,
        !closed,
      );
      return own === undefined ? page : { ...page, agent: own.name };
    },
    { description: 'The event log, a page at a time. Optional {"after": seq, "limit": n}.' },
  );
  setHandler(
    messagesQuery,
    (raw) => {
      const { from, limit, offset } = pageArgument(raw);
      return addressed(agents, raw).transcript.page({
        ...(from === undefined ? {} : { from }),
        ...(limit === undefined ? {} : { limit }),
        ...(offset === undefined ? {} : { offset }),
      });
    },
    { description: 'The transcript, a page at a time. Optional {"from": index, "limit": n}.' },
  );
  setHandler(responseQuery, (raw) => responseOf(addressed(agents, raw)), {
    description: 'The last answer as an OpenAI chat-completion message.',
  });
  setHandler(
    contextQuery,
    (raw) => {
      const { digest, offset } = queryArgument(raw);
      const at = wholeNumber(offset);
      return agents.page({
        digest: typeof digest === 'string' ? digest : '',
        ...(at === undefined ? {} : { offset: at }),
      });
    },
    { description: 'For workers: a system prompt, tool list or argument by its digest.' },
  );
}

function onceBegun<T>({ begun }: Agents, accept: () => T): T | Promise<T> {
  return begun === undefined ? accept() : begun.then(accept);
}

/** @throws Error when the query names an agent that does not exist: it fails with the message. */
function addressed(agents: Agents, raw: RawValue | undefined): AgentSession {
  const addressee = agents.addressee(queryArgument(raw)['agent']);
  if ('problem' in addressee) throw new Error(addressee.problem);
  return addressee.session;
}

function pageArgument(raw: RawValue | undefined): {
  readonly [Field in 'after' | 'from' | 'limit' | 'offset']: number | undefined;
} {
  const { after, from, limit, offset } = queryArgument(raw);
  return {
    after: wholeNumber(after),
    from: wholeNumber(from),
    // A limit of 0 would make a follower ask for ever.
    limit: wholeNumber(limit) || undefined,
    offset: wholeNumber(offset),
  };
}
