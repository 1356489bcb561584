// What the scripted model answers: a reply is a status, headers and steps, each a piece of the body or
// something that happens to the connection. Builders for the usual answers, and for broken ones.

import type { JsonValue } from '../protocol/json.js';

/** A step of a reply's body. The headers leave with the first piece of the body, or `step.headers`. */
export type ReplyStep =
  | { readonly kind: 'send'; readonly text: string }
  | { readonly kind: 'headers' }
  | { readonly kind: 'wait'; readonly milliseconds: number }
  | { readonly kind: 'until'; readonly promise: Promise<unknown> }
  /** Sends the text again and again until the client leaves. */
  | { readonly kind: 'repeat'; readonly text: string; readonly everyMs: number }
  /** Says nothing more until the client leaves. */
  | { readonly kind: 'hang' }
  /** Destroys the socket. */
  | { readonly kind: 'cut' };

export interface ScriptedReply {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly steps: readonly ReplyStep[];
}

/** One call of an answer. Arguments are sent as JSON, a string as it is. */
export interface ScriptedToolCall {
  readonly name: string;
  readonly arguments?: JsonValue;
  /** Default `call_1`, `call_2`, … per answer: real servers number globally, the agent must cope. */
  readonly id?: string;
}

export interface ScriptedAnswer {
  readonly reasoning?: string;
  /** Field the reasoning comes in. Default `reasoning_content`. */
  readonly reasoningField?: string;
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Default `tool_calls` with calls, else `stop`. */
  readonly finishReason?: string;
  /** Prompt and completion tokens. Default 10 and 5. */
  readonly usage?: { readonly input: number; readonly output: number };
  /** Pause before each chunk. */
  readonly delayMs?: number;
  /** Characters a chunk of text carries. Default: all. */
  readonly chunkSize?: number;
}

/** A part of a raw reply: a string goes out as it is, an object as one SSE event. */
export type RawPart = string | ReplyStep | { readonly [field: string]: unknown };

export const step = {
  headers: { kind: 'headers' },
  hang: { kind: 'hang' },
  cut: { kind: 'cut' },
  wait: (milliseconds: number): ReplyStep => ({ kind: 'wait', milliseconds }),
  /** Goes on when the test says so. */
  until: (promise: Promise<unknown>): ReplyStep => ({ kind: 'until', promise }),
  repeat: (part: string | { readonly [field: string]: unknown }, everyMs: number): ReplyStep => ({
    kind: 'repeat',
    text: typeof part === 'string' ? part : sse(part),
    everyMs,
  }),
} as const;

/** Chunks of a chat-completion stream. */
export const chunk = {
  delta: (delta: { readonly [field: string]: unknown }, finishReason: string | null = null) => ({
    ...envelope,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  }),
  text: (content: string) => chunk.delta({ content }),
  reasoning: (text: string, field = 'reasoning_content') => chunk.delta({ [field]: text }),
  /** An entry of `tool_calls`, as the wire has it. */
  toolCalls: (...entries: readonly { readonly [field: string]: unknown }[]) =>
    chunk.delta({ tool_calls: entries }),
  finish: (reason: string) => chunk.delta({}, reason),
  usage: (input: number, output: number) => ({
    ...envelope,
    choices: [],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
    },
  }),
  error: (error: { readonly [field: string]: unknown }) => ({ error }),
  done: 'data: [DONE]\n\n',
} as const;

export const reply = {
  answer: (answer: ScriptedAnswer): ScriptedReply => reply.raw(answerParts(answer)),
  text: (text: string, answer: Omit<ScriptedAnswer, 'text' | 'toolCalls'> = {}): ScriptedReply =>
    reply.answer({ ...answer, text }),
  toolCalls: (
    toolCalls: readonly ScriptedToolCall[],
    answer: Omit<ScriptedAnswer, 'toolCalls'> = {},
  ): ScriptedReply => reply.answer({ ...answer, toolCalls }),
  /** An HTTP error. An object is sent as JSON; `undefined` as an empty body. */
  status: (
    status: number,
    body?: string | { readonly [field: string]: unknown },
    headers: { readonly [name: string]: string } = {},
  ): ScriptedReply => {
    const text = typeof body === 'object' ? JSON.stringify(body) : (body ?? '');
    const type = typeof body === 'object' ? 'application/json' : 'text/plain';
    return {
      status,
      headers: { 'content-type': type, ...headers },
      steps: [{ kind: 'send', text }],
    };
  },
  /** A stream made of parts. Nothing is added: no finish reason, no `[DONE]`. */
  raw: (
    parts: readonly RawPart[],
    headers: { readonly [name: string]: string } = {},
  ): ScriptedReply => ({
    status: 200,
    headers: { 'content-type': 'text/event-stream', ...headers },
    steps: parts.map((part) => toStep(part)),
  }),
  /** Accepts the request and never answers. */
  hang: (): ScriptedReply => reply.raw([step.hang]),
  /** Closes the connection without an answer. */
  cut: (): ScriptedReply => reply.raw([step.cut]),
  /** Sends the text again and again until the client leaves. */
  endless: (text: string, everyMs = 10): ScriptedReply =>
    reply.raw([step.repeat(chunk.text(text), everyMs)]),
} as const;

const envelope = {
  id: 'chatcmpl-scripted',
  object: 'chat.completion.chunk',
  created: 0,
  model: 'scripted',
} as const;

function sse(event: unknown): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

function toStep(part: RawPart): ReplyStep {
  if (typeof part === 'string') return { kind: 'send', text: part };
  if (isStep(part)) return part;
  return { kind: 'send', text: sse(part) };
}

function isStep(part: Exclude<RawPart, string>): part is ReplyStep {
  return 'kind' in part;
}

function answerParts(answer: ScriptedAnswer): readonly RawPart[] {
  const { reasoning, text, toolCalls = [], usage = { input: 10, output: 5 } } = answer;
  const chunks: RawPart[] = [chunk.delta({ role: 'assistant', content: '' })];
  if (reasoning !== undefined) {
    for (const piece of pieces(reasoning, answer.chunkSize)) {
      chunks.push(chunk.reasoning(piece, answer.reasoningField));
    }
  }
  if (text !== undefined) {
    for (const piece of pieces(text, answer.chunkSize)) chunks.push(chunk.text(piece));
  }
  for (const [index, call] of toolCalls.entries()) {
    const name = call.name;
    const id = call.id ?? `call_${index + 1}`;
    chunks.push(
      chunk.toolCalls({ index, id, type: 'function', function: { name, arguments: '' } }),
    );
    for (const piece of pieces(argumentsText(call.arguments), answer.chunkSize)) {
      chunks.push(chunk.toolCalls({ index, function: { arguments: piece } }));
    }
  }
  chunks.push(
    chunk.finish(answer.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop')),
    chunk.usage(usage.input, usage.output),
    chunk.done,
  );
  const { delayMs } = answer;
  if (delayMs === undefined) return chunks;
  return chunks.flatMap((part): readonly RawPart[] => [step.wait(delayMs), part]);
}

function argumentsText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}

function pieces(text: string, size = Math.max(1, text.length)): readonly string[] {
  const result: string[] = [];
  for (let start = 0; start < text.length; start += size) {
    result.push(text.slice(start, start + size));
  }
  return result;
}
