// What the Web UI shows of a running session: a few lines of markdown. Free: it is in no history.

import { textOf } from '../protocol/messages.js';
import type { AgentSession } from './agent-session.js';
import { statusOf } from './session-state.js';

const maxAnswerCharacters = 2_000;

export function currentDetails(session: AgentSession): string {
  const { usage, agent, runScope, pendingToolCalls, steering, followUp } = session;
  const tools = [...pendingToolCalls.values()].map(
    ({ toolName, status }) => `\`${toolName}\` (${status.replaceAll('_', ' ')})`,
  );
  const queued = steering.entries.length + followUp.entries.length;
  const lines = [
    `**Status:** ${statusOf(session).replaceAll('_', ' ')}`,
    ...(runScope === undefined ? [] : [`**Turn:** ${session.turns}`]),
    ...(agent === undefined ? [] : [`**Model:** ${agent.models[agent.model] ?? agent.model}`]),
    ...(tools.length === 0 ? [] : [`**Tools:** ${tools.join(', ')}`]),
    ...(queued === 0 ? [] : [`**Queued:** ${queued}`]),
    `**Tokens:** ${usage.input} in, ${usage.output} out`,
    ...(session.lastError === undefined ? [] : [`**Last error:** ${session.lastError}`]),
  ];
  const answer = lastAnswer(session);
  return lines.join('  \n') + (answer === undefined ? '' : `\n\n---\n\n${answer}`);
}

function lastAnswer({ transcript }: AgentSession): string | undefined {
  for (let i = transcript.length - 1; i >= 0; i--) {
    const message = transcript.at(i);
    if (message?.role !== 'assistant') continue;
    const text = textOf(message.content);
    if (text === '') continue;
    return text.length > maxAnswerCharacters ? `${text.slice(0, maxAnswerCharacters)}…` : text;
  }
  return undefined;
}
