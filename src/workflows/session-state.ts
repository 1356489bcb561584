// The answers of the queries `state` and `response`.

import { cutUtf8, utf8Length } from '../protocol/json.js';
import { payloadLimits } from '../protocol/limits.js';
import { textOf, toolCallsOf } from '../protocol/messages.js';
import type { AssistantMessage } from '../protocol/messages.js';
import type { AgentState, ResponseMessage, SessionStatus } from '../protocol/session.js';
import type { AgentSession } from './agent-session.js';
import { summariesOf } from './queues.js';

const maxSummariesBytes = 40_000;

export function statusOf(session: AgentSession): SessionStatus {
  if (session.closed) return 'closed';
  if (session.runScope === undefined) {
    return session.pendingStart === undefined ? 'idle' : 'starting';
  }
  if (session.approvals.size > 0) return 'waiting_for_approval';
  return session.agent !== undefined ? 'running' : 'starting';
}

export function stateOf(session: AgentSession): AgentState {
  const { input, agent, steering, followUp } = session;
  return {
    status: statusOf(session),
    lifetime: input.lifetime,
    agent: input.agent,
    ...(agent === undefined ? {} : { model: agent.models[agent.model] ?? agent.model }),
    runs: session.runs,
    turn: session.runScope === undefined ? 0 : session.turns,
    pendingToolCalls: [...session.pendingToolCalls.values()].slice(0, 200),
    queues: {
      steering: summariesOf(steering.entries, maxSummariesBytes),
      followUp: summariesOf(followUp.entries, maxSummariesBytes),
      steeringLength: steering.entries.length,
      followUpLength: followUp.entries.length,
    },
    pendingApprovals: session.approvals.summaries(),
    usage: session.usage,
    ...(session.lastError === undefined ? {} : { lastError: session.lastError }),
    transcriptLength: session.transcript.length,
    undelivered: session.closed ? session.undelivered() : [],
  };
}

/** The last answer, its text cut to `maxBytes`; null before there is one. Reasoning is left out. */
export function responseOf(
  { transcript }: AgentSession,
  maxBytes: number = payloadLimits.maxPageBytes / 2,
): ResponseMessage | null {
  for (let i = transcript.length - 1; i >= 0; i--) {
    const message = transcript.at(i);
    if (message?.role !== 'assistant') continue;
    if (message.stopReason === 'error' || message.stopReason === 'aborted') continue;
    return toResponse(message, maxBytes);
  }
  return null;
}

function toResponse(message: AssistantMessage, maxBytes: number): ResponseMessage {
  const text = textOf(message.content);
  const content = cutUtf8(text, maxBytes);
  const calls = toolCallsOf(message).map(({ id, name, arguments: args }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(args) },
  }));
  // Calls too large for the answer are left to the transcript: half a call is of no use.
  const fits = utf8Length(JSON.stringify(calls)) <= maxBytes;
  return {
    role: 'assistant',
    content: text === '' ? null : content,
    ...(calls.length > 0 && fits ? { tool_calls: calls } : {}),
    ...(content.length < text.length || !fits ? { truncated: true as const } : {}),
  };
}
