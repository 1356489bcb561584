// What the Web UI shows of a running session: a few lines of markdown. Free: it is in no history.

import { textOf } from '../protocol/messages.js';
import { excerpt } from '../protocol/text.js';
import type { AgentSession } from './agent-session.js';
import { awaitedWorkspace, statusOf } from './session-state.js';

const maxAnswerCharacters = 2_000;
const maxTools = 10;

export function currentDetails(session: AgentSession): string {
  const { usage, agent, runScope, pendingToolCalls, steering, followUp } = session;
  const tools = [...pendingToolCalls.values()]
    .slice(0, maxTools)
    .map(({ toolName, status }) => `\`${excerpt(toolName, 80)}\` (${status.replaceAll('_', ' ')})`);
  if (pendingToolCalls.size > maxTools) tools.push(`${pendingToolCalls.size - maxTools} more`);
  const queued = steering.entries.length + followUp.entries.length;
  const awaited = awaitedWorkspace(session);
  const lines = [
    `**Status:** ${statusOf(session).replaceAll('_', ' ')}`,
    ...(runScope === undefined ? [] : [`**Turn:** ${session.turns}`]),
    ...(agent === undefined
      ? []
      : [`**Model:** ${agent.models[agent.model]?.model ?? agent.model}`]),
    ...(tools.length === 0 ? [] : [`**Tools:** ${tools.join(', ')}`]),
    ...(awaited === undefined
      ? []
      : [
          `**Waiting for:** a worker of the workspace \`${awaited.workspace}\` (task queue \`${awaited.taskQueue}\`)`,
        ]),
    ...(queued === 0 ? [] : [`**Queued:** ${queued}`]),
    `**Tokens:** ${usage.input} in, ${usage.output} out`,
    ...(session.lastError === undefined
      ? []
      : [`**Last error:** ${excerpt(session.lastError, 1_000)}`]),
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
    return excerpt(text, maxAnswerCharacters);
  }
  return undefined;
}
