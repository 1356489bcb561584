// What people send: signals and the update `submit`, understood, counted once and carried out. Nothing that
// anyone can send throws here; what cannot be understood is recorded as rejected, with the reason.

import { isJsonObject } from '../protocol/json.js';
import type { SignalKind } from '../protocol/events.js';
import { signalKinds } from '../protocol/events.js';
import type { SubmitOutcome } from '../protocol/handlers.js';
import { parseInputMessage, parsePrompt } from '../protocol/message-input.js';
import { describe, excerpt, fieldName } from '../protocol/text.js';
import type { AgentSession } from './agent-session.js';
import { planContinue } from './continuation.js';
import type { Decoded } from './payload.js';
import { enqueue, previewOf } from './queues.js';
import type { QueuedMessage } from './queues.js';
import type { FirstOutcome } from './remembered-ids.js';

const maxIdLength = 200;
const maxReasonLength = 2_000;

/** Carries out one signal, or one submitted input of that kind. */
export function acceptInput(
  session: AgentSession,
  kind: SignalKind,
  decoded: Decoded,
): SubmitOutcome {
  if (decoded.kind === 'undecodable') return reject(session, kind, undefined, decoded.reason);
  const payload = decoded.kind === 'absent' ? undefined : decoded.value;
  return acceptValue(session, kind, payload, isJsonObject(payload) ? payload['id'] : undefined);
}

/** Carries out the update `submit`. */
export function acceptSubmit(session: AgentSession, decoded: Decoded): SubmitOutcome {
  if (decoded.kind !== 'value' || !isJsonObject(decoded.value)) {
    const reason =
      decoded.kind === 'undecodable' ? decoded.reason : 'submit takes {kind, message, id}.';
    return { outcome: 'rejected', reason };
  }
  const { kind, message, id } = decoded.value;
  if (!(signalKinds as readonly unknown[]).includes(kind)) {
    const reason = `kind: expected one of ${signalKinds.join(', ')}, got ${describe(kind)}.`;
    return { outcome: 'rejected', reason };
  }
  const inner = isJsonObject(message) ? message['id'] : undefined;
  return acceptValue(session, kind as SignalKind, message ?? undefined, id ?? inner);
}

function acceptValue(
  session: AgentSession,
  kind: SignalKind,
  payload: unknown,
  id: unknown,
): SubmitOutcome {
  if (id !== undefined && id !== null && (typeof id !== 'string' || id.length > maxIdLength)) {
    const reason = `id: expected a string of at most ${maxIdLength} characters, got ${describe(id)}.`;
    return reject(session, kind, undefined, reason);
  }
  const known = typeof id === 'string' && id !== '' ? id : undefined;
  const first = known === undefined ? undefined : session.rememberedIds.outcomeOf(known);
  if (first !== undefined) return { outcome: 'duplicate', first };
  const outcome = carryOut(session, kind, payload, known);
  if (known !== undefined) session.rememberedIds.remember(known, outcome);
  return outcome;
}

function carryOut(
  session: AgentSession,
  kind: SignalKind,
  payload: unknown,
  id: string | undefined,
): FirstOutcome {
  if (session.closed) return reject(session, kind, id, 'The agent has ended; start another.');
  switch (kind) {
    case 'steer':
    case 'followUp':
      return queueMessage(session, kind, payload, id);
    case 'prompt':
      return startPrompt(session, payload, id);
    case 'continue':
      return startContinue(session, id);
    case 'abort':
      session.abort(abortReason(payload));
      return { outcome: 'accepted' };
    case 'approve':
    case 'deny':
      return answerApproval(session, kind, payload, id);
    case 'close':
      return close(session, id);
  }
}

/** Whatever came with it, an abort aborts: what is no text is no reason. */
function abortReason(payload: unknown): string | undefined {
  const reason = isJsonObject(payload) ? payload['reason'] : payload;
  return typeof reason === 'string' && reason !== '' ? excerpt(reason, maxReasonLength) : undefined;
}

function queueMessage(
  session: AgentSession,
  kind: 'steer' | 'followUp',
  payload: unknown,
  id: string | undefined,
): FirstOutcome {
  const parsed = parseInputMessage(payload, 'message');
  if ('problem' in parsed) return reject(session, kind, id, parsed.problem);
  const identity = id === undefined ? {} : { id };
  queue(session, { kind, ...identity, message: parsed.value });
  return { outcome: 'queued' };
}

export function queue(
  session: AgentSession,
  entry: QueuedMessage & { readonly kind: 'steer' | 'followUp' },
): void {
  enqueue(entry.kind === 'steer' ? session.steering : session.followUp, entry);
  const { message, ...announced } = entry;
  session.emit({ type: 'queued', ...announced, preview: previewOf(message) });
}

function startPrompt(
  session: AgentSession,
  payload: unknown,
  id: string | undefined,
): FirstOutcome {
  const reason = startProblem(session);
  if (reason !== undefined) return reject(session, 'prompt', id, reason);
  const parsed = parsePrompt(payload, 'message');
  if ('problem' in parsed) return reject(session, 'prompt', id, parsed.problem);
  session.pendingStart = { kind: 'prompt', messages: parsed.value };
  return { outcome: 'started' };
}

function startContinue(session: AgentSession, id: string | undefined): FirstOutcome {
  const reason = startProblem(session);
  if (reason !== undefined) return reject(session, 'continue', id, reason);
  const plan = planContinue(session.transcript.messages, session);
  if (plan.kind === 'rejected') return reject(session, 'continue', id, plan.reason);
  session.pendingStart = plan.start;
  return { outcome: 'started' };
}

/** Why no run can begin now. Busy counts from acceptance on: two prompts at once never make two runs. */
function startProblem(session: AgentSession): string | undefined {
  if (session.input.lifetime === 'run') {
    return 'A workflow of lifetime run has only the run it was started with; send steer or followUp, or start another.';
  }
  const unserved = unservedProblem(session);
  if (unserved !== undefined) return unserved;
  if (session.closing) return 'The session is closing; start another.';
  if (session.isBusy) return 'An agent run is active; send steer or followUp, or wait for its end.';
  return undefined;
}

/** Why the agent takes no prompt, `continue` or `close` now: the code of its workflow runs it. */
function unservedProblem({ own, served }: AgentSession): string | undefined {
  if (own === undefined || served) return undefined;
  return `The agent ${own.name} is run by the code of its workflow, which takes no prompt, continue or close for it now; send steer or followUp.`;
}

function close(session: AgentSession, id: string | undefined): FirstOutcome {
  const unserved = unservedProblem(session);
  if (unserved !== undefined) return reject(session, 'close', id, unserved);
  session.closing = true;
  return { outcome: 'accepted' };
}

function answerApproval(
  session: AgentSession,
  kind: 'approve' | 'deny',
  payload: unknown,
  id: string | undefined,
): FirstOutcome {
  const { approvals } = session;
  const misunderstood = answerProblem(payload);
  if (misunderstood !== undefined) return reject(session, kind, id, misunderstood);
  const fields = isJsonObject(payload) ? payload : {};
  // A bare string is the call's id; for `deny` also the reason, as `deny` is mostly said with one.
  const text = typeof payload === 'string' && payload !== '' ? payload : undefined;
  const isReason = kind === 'deny' && text !== undefined && !approvals.has(text);
  const toolCallId = isReason ? undefined : (text ?? fields['toolCallId'] ?? undefined);
  const reason = isReason ? text : (fields['reason'] ?? fields['text'] ?? undefined);
  if (toolCallId !== undefined && typeof toolCallId !== 'string') {
    return reject(session, kind, id, `toolCallId: expected a string, got ${describe(toolCallId)}.`);
  }
  if (reason !== undefined && typeof reason !== 'string') {
    return reject(session, kind, id, `reason: expected a string, got ${describe(reason)}.`);
  }
  const cut = reason === undefined ? undefined : excerpt(reason, maxReasonLength);
  const answered = approvals.answer({
    approved: kind === 'approve',
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(cut === undefined ? {} : { reason: cut }),
  });
  if ('problem' in answered) return reject(session, kind, id, answered.problem);
  session.emit({
    type: 'approval_resolved',
    ...answered,
    approved: kind === 'approve',
    ...(cut === undefined ? {} : { reason: cut }),
  });
  return { outcome: 'accepted' };
}

const answerFields = ['toolCallId', 'reason', 'text', 'id', 'agent'];

/** What is not understood approves nothing: a mistyped field must not become the only pending call. */
function answerProblem(payload: unknown): string | undefined {
  if (payload === undefined || typeof payload === 'string') return undefined;
  if (!isJsonObject(payload)) {
    return `message: expected a toolCallId or an object, got ${describe(payload)}.`;
  }
  const unknown = Object.keys(payload).find((field) => !answerFields.includes(field));
  if (unknown === undefined) return undefined;
  return `${fieldName(unknown)}: unknown field; known are ${answerFields.join(', ')}.`;
}

/** Records an input that was not understood, and why. */
export function reject(
  session: AgentSession,
  kind: SignalKind,
  id: string | undefined,
  problem: string,
): FirstOutcome {
  const reason = excerpt(problem, maxReasonLength);
  session.emit({ type: 'rejected', kind, ...(id === undefined ? {} : { id }), reason });
  return { outcome: 'rejected', reason };
}
