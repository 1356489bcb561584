// Registers the signals, the update and the queries of a session. Handlers only decode and delegate; the
// descriptions appear in `temporal workflow metadata` and in the Web UI.

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
import type { AgentSession } from './agent-session.js';
import { decodePayload, queryArgument, wholeNumber } from './payload.js';
import { acceptInput, acceptSubmit } from './session-inputs.js';
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

export function registerHandlers(session: AgentSession): void {
  for (const kind of Object.keys(signals) as SignalKind[]) {
    const [definition, description] = signals[kind];
    const handle = (raw?: RawValue) => void acceptInput(session, kind, decodePayload(raw));
    setHandler(definition, handle, { description });
  }
  setHandler(submitUpdate, (raw) => acceptSubmit(session, decodePayload(raw)), {
    description:
      'Send any input and learn what became of it. {"kind": "steer", "message": …, "id"?}.',
  });
  setHandler(stateQuery, () => stateOf(session), {
    description: 'Status, turn, model, pending tool calls, queues, approvals, usage.',
  });
  setHandler(
    eventsQuery,
    (raw) => {
      const { after, limit } = pageArgument(raw);
      return session.events.page(
        { ...(after === undefined ? {} : { after }), ...(limit === undefined ? {} : { limit }) },
        session.transcript,
        !session.closed,
      );
    },
    { description: 'The event log, a page at a time. Optional {"after": seq, "limit": n}.' },
  );
  setHandler(
    messagesQuery,
    (raw) => {
      const { from, limit, offset } = pageArgument(raw);
      return session.transcript.page({
        ...(from === undefined ? {} : { from }),
        ...(limit === undefined ? {} : { limit }),
        ...(offset === undefined ? {} : { offset }),
      });
    },
    { description: 'The transcript, a page at a time. Optional {"from": index, "limit": n}.' },
  );
  setHandler(responseQuery, () => responseOf(session), {
    description: 'The last answer as an OpenAI chat-completion message.',
  });
  setHandler(
    contextQuery,
    (raw) => {
      const { digest, offset } = queryArgument(raw);
      const at = wholeNumber(offset);
      return session.values.page({
        digest: typeof digest === 'string' ? digest : '',
        ...(at === undefined ? {} : { offset: at }),
      });
    },
    { description: 'For workers: a system prompt, tool list or argument by its digest.' },
  );
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
