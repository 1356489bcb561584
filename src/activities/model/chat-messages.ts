// The default `convertToLlm`: transcript messages as the chat completions API takes them.

import type OpenAI from 'openai';
import { textOf, toolCallsOf } from '../../protocol/messages.js';
import type {
  AssistantMessage,
  ImageBlock,
  Message,
  TextBlock,
  ThinkingBlock,
  ToolResultMessage,
  UserContent,
} from '../../protocol/messages.js';
import type { ModelDefinition } from '../definitions.js';
import { toAdjacent } from './adjacent-messages.js';
import { toWireId } from './tool-call-ids.js';

type WireMessage = OpenAI.ChatCompletionMessageParam;

const maxWireNameLength = 64;

/**
 * Converts what a model call sees; the system prompt is put before it elsewhere. A tool's name that is not
 * among `toolNames` is one the model made up: it goes back in characters that every server takes.
 */
export function convertToLlm(
  messages: readonly Message[],
  model: ModelDefinition,
  toolNames: ReadonlySet<string> = new Set(),
): readonly WireMessage[] {
  const toWireName = (name: string) => {
    if (toolNames.has(name)) return name;
    return name.replace(/[^\w-]/g, '_').slice(0, maxWireNameLength) || '_';
  };
  const adjacent = toAdjacent(messages);
  const wire: WireMessage[] = [];
  for (let i = 0; i < adjacent.length; i++) {
    const message = adjacent[i] as Message;
    if (message.role === 'toolResult') {
      const batch: ToolResultMessage[] = [];
      for (let next: Message | undefined = message; next?.role === 'toolResult';) {
        batch.push(next);
        next = adjacent[i + batch.length];
      }
      i += batch.length - 1;
      const images = imagesOfResults(batch, model);
      wire.push(...batch.map((result) => toToolMessage(result, model, toWireName)), ...images);
      const beforeUser = images.length > 0 || isSentAsUser(adjacent[i + 1]);
      if (model.quirks.assistantAfterToolResult === true && beforeUser) {
        wire.splice(wire.length - images.length, 0, separator);
      }
    } else {
      wire.push(
        message.role === 'assistant'
          ? toAssistant(message, model, toWireName)
          : toUser(message, model),
      );
    }
  }
  return wire;
}

/** For servers that refuse a user message right after a tool result. */
const separator: WireMessage = { role: 'assistant', content: 'I have read the results.' };

function isSentAsUser(message: Message | undefined): boolean {
  return message !== undefined && message.role !== 'assistant' && message.role !== 'toolResult';
}

function toUser(
  message: Exclude<Message, AssistantMessage | ToolResultMessage>,
  model: ModelDefinition,
): WireMessage {
  const content = 'text' in message ? message.text : message.content;
  return { role: 'user', content: toUserContent(content, model) };
}

/** Text alone travels as a string, which every server takes. */
function toUserContent(
  content: string | UserContent,
  model: ModelDefinition,
): OpenAI.ChatCompletionUserMessageParam['content'] {
  if (typeof content === 'string') return content;
  if (!content.some((block) => block.type === 'image')) return textOf(content);
  return content.map((block) =>
    block.type === 'text' ? toTextPart(block) : toImagePart(block, model),
  );
}

function toTextPart({ text }: TextBlock): OpenAI.ChatCompletionContentPart {
  return { type: 'text', text };
}

function toImagePart(
  { data, mimeType }: ImageBlock,
  { quirks }: ModelDefinition,
): OpenAI.ChatCompletionContentPart {
  if (quirks.images === false) return { type: 'text', text: imageNote(mimeType) };
  return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } };
}

function imageNote(mimeType: string): string {
  return `[An image (${mimeType}) was left out: this model takes none.]`;
}

function toToolMessage(
  result: ToolResultMessage,
  { quirks }: ModelDefinition,
  toWireName: (name: string) => string,
): WireMessage {
  const images = result.content.filter((block) => block.type === 'image');
  const notes = images.map(({ mimeType }) =>
    quirks.images === false ? imageNote(mimeType) : `[An image (${mimeType}) follows the results.]`,
  );
  const text = [textOf(result.content), ...notes].filter((part) => part !== '').join('\n');
  return {
    role: 'tool',
    tool_call_id: toWireId(result.toolCallId, quirks.toolCallIds),
    ...(quirks.toolResultName === true ? { name: toWireName(result.toolName) } : {}),
    // Some servers refuse empty content.
    content: text === '' ? '(no output)' : text,
  };
}

/** A tool message holds text only, so images go along in a user message after the whole batch. */
function imagesOfResults(
  results: readonly ToolResultMessage[],
  model: ModelDefinition,
): readonly WireMessage[] {
  if (model.quirks.images === false) return [];
  const parts = results.flatMap(({ toolName, content }) => {
    const images = content.filter((block) => block.type === 'image');
    if (images.length === 0) return [];
    const title = { type: 'text', text: `Images in the result of ${toolName}:` } as const;
    return [title, ...images.map((image) => toImagePart(image, model))];
  });
  return parts.length === 0 ? [] : [{ role: 'user', content: parts }];
}

function toAssistant(
  message: AssistantMessage,
  model: ModelDefinition,
  toWireName: (name: string) => string,
): WireMessage {
  const { quirks } = model;
  const text = message.content
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join('');
  const samePlace = message.provider === model.provider && message.model === model.model;
  const calls = toolCallsOf(message).map((call) => ({
    id: toWireId(call.id, quirks.toolCallIds),
    type: 'function' as const,
    function: { name: toWireName(call.name), arguments: JSON.stringify(call.arguments) },
    ...(samePlace ? call.signature : {}),
  }));
  const empty = quirks.emptyContent === 'empty-string' ? '' : null;
  return {
    role: 'assistant',
    content: text === '' ? empty : text,
    ...(samePlace && quirks.returnReasoning !== false ? reasoningOf(message) : {}),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

/** Reasoning under the names it came in, byte for byte. */
function reasoningOf({ content }: AssistantMessage): { readonly [field: string]: unknown } {
  const fields: Record<string, unknown> = {};
  for (const block of content) {
    if (block.type !== 'thinking') continue;
    Object.assign(fields, block.signature);
    if (block.field !== undefined) fields[block.field] = joined(fields[block.field], block);
  }
  return fields;
}

function joined(before: unknown, { thinking }: ThinkingBlock): string {
  return typeof before === 'string' ? before + thinking : thinking;
}
