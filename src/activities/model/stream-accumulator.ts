// Collects the chunks of one streamed answer. Absorbs the quirks of compatible servers; what the answer
// means (usable, truncated, empty) is decided in `answer.ts`.

import type { JsonObject } from '../../protocol/json.js';
import type { ToolCall } from '../../protocol/messages.js';
import { mergeOpaque } from './opaque-fields.js';
import { readChunk } from './stream-chunk.js';
import type { Fields, StreamChunk } from './stream-chunk.js';
import { createThinkTagSplitter } from './think-tags.js';
import type { ThinkPiece } from './think-tags.js';
import { createToolCallAssembly } from './tool-call-assembly.js';

/** What has arrived. */
export interface StreamedAnswer {
  readonly text: string;
  readonly thinking: string;
  /** The wire field the reasoning came in, also when it was empty. */
  readonly thinkingField: string | undefined;
  readonly signature: JsonObject | undefined;
  /** With the provider's ids, which may be empty or repeated. */
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: string | undefined;
  readonly responseId: string | undefined;
  readonly usage: Fields | undefined;
}

export interface StreamAccumulator {
  /** Takes a chunk of any shape; true when it brought a token or the finish reason. */
  add(chunk: unknown): boolean;
  readonly text: string;
  readonly thinking: string;
  readonly finished: boolean;
  /** UTF-16 units so far: the least that the answer weighs in bytes. */
  readonly size: number;
  /** The answer as far as it came. Call it once, at the end. */
  end(): StreamedAnswer;
}

export interface AccumulatorOptions {
  /** Split `<think>…</think>` out of the content. */
  readonly thinkTags?: boolean;
}

export function createStreamAccumulator({
  thinkTags = false,
}: AccumulatorOptions = {}): StreamAccumulator {
  const calls = createToolCallAssembly();
  const splitter = thinkTags ? createThinkTagSplitter() : undefined;
  let text = '';
  let thinking = '';
  let opaqueSize = 0;
  let thinkingField: string | undefined;
  let signature: JsonObject | undefined;
  let finishReason: string | undefined;
  let responseId: string | undefined;
  let usage: Fields | undefined;

  const take = (pieces: readonly ThinkPiece[]) => {
    for (const piece of pieces) {
      if (piece.reclassify) {
        thinking += text;
        text = '';
      }
      thinking += piece.thinking;
      text += piece.text;
    }
  };

  const addReasoning = ({ reasoning }: StreamChunk) => {
    if (reasoning === undefined) return;
    if (thinkingField === undefined || (thinking === '' && reasoning.text !== '')) {
      thinkingField = reasoning.field;
    }
    thinking += reasoning.text;
  };

  return {
    add(raw) {
      const chunk = readChunk(raw);
      addReasoning(chunk);
      if (chunk.text !== '')
        take(splitter?.push(chunk.text) ?? [{ text: chunk.text, thinking: '' }]);
      calls.push(chunk.toolCalls);
      if (chunk.signature !== undefined) {
        signature = mergeOpaque(signature, chunk.signature);
        opaqueSize += JSON.stringify(chunk.signature).length;
      }
      finishReason = chunk.finishReason ?? finishReason;
      if (responseId === undefined && chunk.id !== '') responseId = chunk.id;
      usage = chunk.usage ?? usage;
      return (
        chunk.text !== '' ||
        (chunk.reasoning?.text ?? '') !== '' ||
        chunk.toolCalls.length > 0 ||
        chunk.signature !== undefined ||
        chunk.finishReason !== undefined
      );
    },
    get text() {
      return text;
    },
    get thinking() {
      return thinking;
    },
    get finished() {
      return finishReason !== undefined;
    },
    get size() {
      return text.length + thinking.length + calls.size + opaqueSize;
    },
    end() {
      take(splitter?.end() ?? []);
      return {
        text,
        thinking,
        thinkingField,
        signature,
        toolCalls: calls.calls(),
        finishReason,
        responseId,
        usage,
      };
    },
  };
}
