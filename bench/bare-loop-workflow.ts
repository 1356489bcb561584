// What Holdfast is compared with: the shortest agent loop that Temporal's documentation would lead to. It
// passes the whole transcript to every model call, and does nothing about aborts, queues or sizes.

import { proxyActivities } from '@temporalio/workflow';

export interface BareToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export type BareMessage =
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly tool_calls?: readonly BareToolCall[];
    };

export interface BareActivities {
  readonly chat: (
    messages: readonly BareMessage[],
  ) => Promise<BareMessage & { readonly role: 'assistant' }>;
  readonly runTool: (name: string, args: string) => Promise<string>;
}

const { chat, runTool } = proxyActivities<BareActivities & Record<string, never>>({
  startToCloseTimeout: '1 minute',
}) as BareActivities;

export async function bareLoop(prompt: string): Promise<string> {
  const messages: BareMessage[] = [{ role: 'user', content: prompt }];
  for (;;) {
    const answer = await chat(messages);
    messages.push(answer);
    if (answer.tool_calls === undefined) return answer.content ?? '';
    for (const call of answer.tool_calls) {
      const content = await runTool(call.function.name, call.function.arguments);
      messages.push({ role: 'tool', tool_call_id: call.id, content });
    }
  }
}
