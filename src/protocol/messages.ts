// The transcript's messages: what the model sees, in the order it sees them. JSON, camelCase.

import type { JsonObject, JsonValue } from './json.js';

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

/** Base64 data and its mime type, e.g. `image/png`. */
export interface ImageBlock {
  readonly type: 'image';
  readonly data: string;
  readonly mimeType: string;
}

/** Reasoning, kept byte for byte: it goes back only to the provider that sent it. */
export interface ThinkingBlock {
  readonly type: 'thinking';
  readonly thinking: string;
  /** The wire field it came in and goes back under, e.g. `reasoning_content`. */
  readonly field?: string;
  /** Opaque data of the provider that goes back as it came: wire field → value, e.g. `reasoning_details`. */
  readonly signature?: JsonObject;
}

export interface ToolCall {
  readonly type: 'toolCall';
  /** Unique in the transcript; missing and repeated ids are replaced on arrival. */
  readonly id: string;
  readonly name: string;
  /** As the model sent them; `{}` when they could not be parsed. */
  readonly arguments: JsonObject;
  /** Set when the arguments are no JSON object: why, and the raw text. */
  readonly argumentsError?: { readonly message: string; readonly raw: string };
  /** Opaque data of the provider that goes back with the call, e.g. a thought signature. */
  readonly signature?: JsonObject;
}

export type UserContent = readonly (TextBlock | ImageBlock)[];

/** Tokens. `total` is the provider's, or input + output. `cost` in dollars when prices are configured. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
  readonly total: number;
  readonly cost?: number;
}

export type StopReason = 'stop' | 'length' | 'toolUse' | 'error' | 'aborted';

export interface UserMessage {
  readonly role: 'user';
  readonly content: string | UserContent;
  /** Milliseconds since the epoch, workflow time. */
  readonly timestamp: number;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly (TextBlock | ThinkingBlock | ToolCall)[];
  /** The provider's name in the worker's config (by default the host of its base URL). */
  readonly provider: string;
  /** The provider's model id. */
  readonly model: string;
  readonly usage: Usage;
  readonly stopReason: StopReason;
  /** The finish reason as the provider wrote it. */
  readonly finishReason?: string;
  readonly errorMessage?: string;
  readonly responseId?: string;
  /** How many attempts the model call took, when more than one. */
  readonly attempts?: number;
  readonly timestamp: number;
}

export interface ToolResultMessage {
  readonly role: 'toolResult';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: UserContent;
  /** For people; never sent to the model. */
  readonly details?: JsonValue;
  readonly isError: boolean;
  readonly durationMs?: number;
  readonly usage?: Usage;
  readonly timestamp: number;
}

/** Text that stands for earlier messages; sent to the model as a user message. */
export interface SummaryMessage {
  readonly role: 'compactionSummary' | 'branchSummary';
  readonly text: string;
  readonly timestamp: number;
}

/** A message of the user's own kind; sent as a user message unless its type is configured otherwise. */
export interface CustomMessage {
  readonly role: 'custom';
  readonly customType: string;
  readonly content: string | UserContent;
  readonly details?: JsonValue;
  readonly timestamp: number;
}

export type Message =
  | UserMessage
  | AssistantMessage
  | ToolResultMessage
  | SummaryMessage
  | CustomMessage;

/** A message before the workflow has put it into the transcript and given it its time. */
export type Untimed<M extends Message = Message> = M extends Message ? Omit<M, 'timestamp'> : never;

/** Messages that may be queued or given as a prompt. */
export type InputMessage = Untimed<UserMessage | CustomMessage>;

export function toolCallsOf(message: Untimed<AssistantMessage>): readonly ToolCall[] {
  return message.content.filter((block): block is ToolCall => block.type === 'toolCall');
}

/** The text blocks of a message joined by newlines; images and reasoning are left out. */
export function textOf(content: string | readonly { readonly type: string }[]): string {
  if (typeof content === 'string') return content;
  return content
    .filter((block): block is TextBlock => block.type === 'text')
    .map((block) => block.text)
    .join('\n');
}

export const zeroUsage: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
  total: 0,
};

export function addUsage(a: Usage, b: Usage | undefined): Usage {
  if (b === undefined) return a;
  const cost =
    a.cost === undefined && b.cost === undefined ? {} : { cost: (a.cost ?? 0) + (b.cost ?? 0) };
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    reasoning: a.reasoning + b.reasoning,
    total: a.total + b.total,
    ...cost,
  };
}
