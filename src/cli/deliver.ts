// Gets an input to a session and says what became of it: by the update `submit` when a worker answers, else
// by a signal, which waits for one. Both carry the same id, so the input counts once even if both arrive.

import { randomUUID } from 'node:crypto';
import { AgentClientError, WorkerUnreachable } from '../client/index.js';
import type { AgentResult, AgentRun, ApprovalAnswer } from '../client/index.js';
import type { SignalKind } from '../protocol/events.js';
import type { SubmitOutcome } from '../protocol/handlers.js';

export type Delivery = SubmitOutcome | { readonly outcome: 'sent' };

/** How long a worker may take to answer before the signal goes out. */
const submitTimeoutMs = 3_000;

export async function deliver(
  run: AgentRun<AgentResult>,
  kind: SignalKind,
  content?: string | ApprovalAnswer,
  id: string = randomUUID(),
): Promise<Delivery> {
  try {
    return await run.submit(kind, content, { id, timeoutMs: submitTimeoutMs });
  } catch (error) {
    if (!(error instanceof WorkerUnreachable)) throw error;
    await run.signal(kind, content, { id });
    return { outcome: 'sent' };
  }
}

/** @throws AgentClientError for a rejected input */
export function describeDelivery(kind: SignalKind, delivery: Delivery): string {
  switch (delivery.outcome) {
    case 'started':
      return 'Started.';
    case 'queued':
      return 'Queued.';
    case 'accepted':
      return acceptedTexts[kind] ?? 'Accepted.';
    case 'duplicate':
      return 'It was sent before; nothing was done.';
    case 'sent':
      return 'Sent. No worker answers now; it takes effect when one is back (start one with `holdfast worker`).';
    case 'rejected':
      throw new AgentClientError(`Rejected: ${delivery.reason}`);
  }
}

const acceptedTexts: { readonly [kind in SignalKind]?: string } = {
  abort: 'Aborting.',
  approve: 'Approved.',
  deny: 'Denied.',
  close: 'Closing after the present run.',
};
