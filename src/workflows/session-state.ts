// The answers of the queries `state` and `response`.

import { workflowInfo } from '@temporalio/workflow';
import { utf8Length } from '../protocol/json.js';
import { payloadLimits } from '../protocol/limits.js';
import { textOf, toolCallsOf } from '../protocol/messages.js';
import type { AssistantMessage } from '../protocol/messages.js';
import type {
  AgentState,
  AwaitedWorkspace,
  ResponseMessage,
  SessionStatus,
} from '../protocol/session.js';
import { workspaceTaskQueue } from '../protocol/workspace.js';
import type { AgentSession } from './agent-session.js';
import { fitting } from './fitting.js';
import { cutEscaped } from './json-slice.js';
import { summariesOf } from './queues.js';

/** Shares of the state's page. */
const shares = { queue: 25_000, approvals: 40_000, toolCalls: 30_000 } as const;
const maxNames = 100;
const maxNameBytes = 1_000;
const maxErrorBytes = 4_000;

export function statusOf(session: AgentSession): SessionStatus {
  if (session.closed) return 'closed';
  if (session.runScope === undefined) {
    return session.pendingStart === undefined ? 'idle' : 'starting';
  }
  if (session.approvals.size > 0) return 'waiting_for_approval';
  if (isWaitingForWorkspace(session)) return 'waiting_for_workspace';
  return session.agent !== undefined ? 'running' : 'starting';
}

/** Whom a call waits for; undefined while none does. */
export function awaitedWorkspace(session: AgentSession): AwaitedWorkspace | undefined {
  const { workspace } = session.input;
  if (!isWaitingForWorkspace(session)) return undefined;
  return { workspace, taskQueue: workspaceQueueOf(session) };
}

/** Where the session's tool calls go. */
export function workspaceQueueOf({ input, own }: AgentSession): string {
  return workspaceTaskQueue(own?.taskQueue ?? workflowInfo().taskQueue, input.workspace);
}

function isWaitingForWorkspace({ pendingToolCalls }: AgentSession): boolean {
  return [...pendingToolCalls.values()].some(({ status }) => status === 'waiting_for_workspace');
}

export function stateOf(session: AgentSession, names: readonly string[] = []): AgentState {
  const { input, agent, own, steering, followUp } = session;
  const awaited = awaitedWorkspace(session);
  return {
    status: statusOf(session),
    lifetime: input.lifetime,
    agent: input.agent,
    ...(own === undefined ? {} : { name: own.name, names: names.slice(0, maxNames) }),
    ...(agent === undefined ? {} : { model: agent.models[agent.model]?.model ?? agent.model }),
    runs: session.runs,
    turn: session.runScope === undefined ? 0 : session.turns,
    pendingToolCalls: pendingToolCalls(session),
    ...(awaited === undefined ? {} : { awaitedWorkspace: awaited }),
    queues: {
      steering: summariesOf(steering.entries, shares.queue),
      followUp: summariesOf(followUp.entries, shares.queue),
      steeringLength: steering.entries.length,
      followUpLength: followUp.entries.length,
    },
    pendingApprovals: session.approvals.summaries(shares.approvals),
    usage: session.usage,
    ...(session.lastError === undefined
      ? {}
      : { lastError: cutEscaped(session.lastError, maxErrorBytes) }),
    transcriptLength: session.transcript.length,
    undelivered: session.closed ? session.undelivered() : [],
  };
}

function pendingToolCalls(session: AgentSession): AgentState['pendingToolCalls'] {
  const calls = [...session.pendingToolCalls.values()].slice(0, 200).map((call) => ({
    ...call,
    toolCallId: cutEscaped(call.toolCallId, maxNameBytes),
    toolName: cutEscaped(call.toolName, maxNameBytes),
  }));
  return fitting(calls, shares.toolCalls);
}

/**
 * The last answer from message `from` on, its text cut to `maxBytes`; null when there is none. Reasoning is
 * left out.
 */
export function responseOf(
  { transcript }: AgentSession,
  maxBytes: number = payloadLimits.maxPageBytes / 2 - 512,
  from = 0,
): ResponseMessage | null {
  for (let i = transcript.length - 1; i >= from; i--) {
    const message = transcript.at(i);
    if (message?.role !== 'assistant') continue;
    if (message.stopReason === 'error' || message.stopReason === 'aborted') continue;
    return toResponse(message, maxBytes);
  }
  return null;
}

function toResponse(message: AssistantMessage, maxBytes: number): ResponseMessage {
  const text = textOf(message.content);
  const content = cutEscaped(text, maxBytes);
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
