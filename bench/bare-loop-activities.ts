// The activities of the bare loop: one streamed chat completion, one tool.

import OpenAI from 'openai';
import { isJsonObject } from '../src/protocol/json.js';
import type { BareActivities, BareToolCall } from './bare-loop-workflow.js';
import { lookUp, lookUpTool } from './lookup-tool.js';
import { systemPrompt } from './worker-config.js';

export function createBareActivities(baseURL: string): BareActivities {
  const client = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 });
  const { name, description, parameters } = lookUpTool;
  return {
    async chat(messages) {
      const stream = await client.chat.completions.create({
        model: 'scripted',
        stream: true,
        messages: [
          { role: 'system', content: systemPrompt },
          ...(messages as OpenAI.ChatCompletionMessageParam[]),
        ],
        tools: [{ type: 'function', function: { name, description, parameters } }],
      });
      let content = '';
      const calls: { id: string; name: string; arguments: string }[] = [];
      for await (const { choices } of stream) {
        const delta = choices[0]?.delta;
        content += delta?.content ?? '';
        for (const part of delta?.tool_calls ?? []) {
          const call = (calls[part.index] ??= { id: '', name: '', arguments: '' });
          call.id += part.id ?? '';
          call.name += part.function?.name ?? '';
          call.arguments += part.function?.arguments ?? '';
        }
      }
      const toolCalls = calls.map(({ id, ...call }): BareToolCall => ({
        id,
        type: 'function',
        function: call,
      }));
      return {
        role: 'assistant',
        content: content === '' ? null : content,
        ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
      };
    },
    async runTool(_name, args) {
      const parsed: unknown = JSON.parse(args);
      return lookUp(isJsonObject(parsed) ? parsed : {});
    },
  };
}
