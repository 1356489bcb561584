// The request of one model call, in the shape its server takes.

import type OpenAI from 'openai';
import type { ThinkingLevel, ToolSpec } from '../../protocol/agent-definition.js';
import type { ModelDefinition } from '../definitions.js';

export type ChatRequest = OpenAI.ChatCompletionCreateParamsStreaming;

export interface ChatRequestInput {
  readonly model: ModelDefinition;
  readonly systemPrompt: string | undefined;
  readonly messages: readonly OpenAI.ChatCompletionMessageParam[];
  readonly tools: readonly ToolSpec[];
  readonly thinkingLevel: ThinkingLevel | undefined;
}

/** `extraBody` comes last: it may replace any field. Lone surrogates, which break JSON readers, are replaced. */
export function toChatRequest(input: ChatRequestInput): ChatRequest {
  const { model, systemPrompt, messages, tools, thinkingLevel } = input;
  const { quirks } = model;
  const system =
    systemPrompt === undefined || systemPrompt === ''
      ? []
      : [{ role: quirks.systemRole ?? 'system', content: systemPrompt } as const];
  const request = {
    model: model.model,
    messages: [...system, ...messages],
    stream: true,
    ...(quirks.streamOptions === false ? {} : { stream_options: { include_usage: true } }),
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => toTool(tool)) }),
    ...(model.maxOutputTokens === undefined
      ? {}
      : { [quirks.maxTokensField ?? 'max_tokens']: model.maxOutputTokens }),
    ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
    ...thinkingFields(thinkingLevel, quirks.thinking),
    ...model.extraBody,
  };
  return wellFormed(request) as unknown as ChatRequest;
}

function toTool({ name, description, parameters }: ToolSpec): OpenAI.ChatCompletionTool {
  return { type: 'function', function: { name, description, parameters: { ...parameters } } };
}

/** No level: the server's default. `off` with `reasoning_effort` likewise, as many models refuse `none`. */
function thinkingFields(
  level: ThinkingLevel | undefined,
  style: ModelDefinition['quirks']['thinking'] = 'reasoning_effort',
): { readonly [field: string]: unknown } {
  if (level === undefined) return {};
  switch (style) {
    case 'none':
      return {};
    case 'reasoning_effort':
      return level === 'off' ? {} : { reasoning_effort: level };
    case 'enable_thinking':
      return { enable_thinking: level !== 'off' };
    case 'chat_template_kwargs':
      return { chat_template_kwargs: { enable_thinking: level !== 'off' } };
  }
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\p{Surrogate}/gu, '\uFFFD');
  if (Array.isArray(value)) return value.map((item) => wellFormed(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, wellFormed(field)]));
}
