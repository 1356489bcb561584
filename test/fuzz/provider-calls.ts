// Model calls of the real client on bodies of the test's own: nothing but the network is left out.

import { expect } from 'vitest';
import { streamChat } from '../../src/activities/model/chat-stream.js';
import { toAnswer } from '../../src/activities/model/answer.js';
import { ModelProblem, toModelProblem } from '../../src/activities/model/model-problem.js';
import { createStreamAccumulator } from '../../src/activities/model/stream-accumulator.js';
import type { AssistantMessage, Untimed } from '../../src/protocol/messages.js';
import { modelDefinition } from '../activities/model/model-fixtures.js';
import { sendsId } from './provider-script.js';
import type { Intended, Manner } from './provider-script.js';

export type CallOutcome =
  | { readonly kind: 'message'; readonly message: Untimed<AssistantMessage> }
  | { readonly kind: 'problem'; readonly problem: ModelProblem };

const answerContext = {
  model: modelDefinition(),
  usedIds: new Set<string>(),
  transcriptLength: 1,
  attempt: 1,
};

/** What becomes of the chunks; anything but a problem that is stated is a fault. */
export function readChunks(chunks: readonly unknown[], thinkTags = false): CallOutcome {
  const accumulator = createStreamAccumulator({ thinkTags });
  for (const chunk of chunks) accumulator.add(chunk);
  return toOutcome(() => toAnswer(accumulator.end(), answerContext));
}

function toOutcome(answer: () => Untimed<AssistantMessage>): CallOutcome {
  try {
    return { kind: 'message', message: answer() };
  } catch (error) {
    if (error instanceof ModelProblem) return { kind: 'problem', problem: error };
    throw error;
  }
}

/** A model call against a server; the file that uses it may replace `provider-fetch.js`. */
export async function callModel(
  baseURL = 'http://model.invalid/v1',
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<CallOutcome> {
  const model = modelDefinition({ baseURL });
  const accumulator = createStreamAccumulator();
  try {
    await streamChat(
      model,
      { headers: {} },
      { model: 'scripted-1', messages: [], stream: true },
      accumulator,
      signal ?? new AbortController().signal,
    );
  } catch (error) {
    return { kind: 'problem', problem: toModelProblem(error, 'scripted') };
  }
  return toOutcome(() => toAnswer(accumulator.end(), answerContext));
}

/** A response whose body comes in these pieces, and then ends or breaks. */
export function responseOf(pieces: Iterable<Uint8Array>, breaks = false): Response {
  const waiting = pieces[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = waiting.next();
      if (next.done !== true) controller.enqueue(next.value);
      else if (breaks) controller.error(new TypeError('terminated'));
      else controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** The body cut at these places, modulo its length; every byte on its own when there are none. */
export function* cutBytes(body: Uint8Array, cuts: readonly number[]): Generator<Uint8Array> {
  const at =
    cuts.length === 0
      ? Array.from({ length: body.length }, (_, index) => index + 1)
      : [...new Set(cuts.map((cut) => cut % (body.length + 1))), body.length].toSorted(
          (a, b) => a - b,
        );
  let from = 0;
  for (const end of at) {
    if (end > from) yield body.subarray(from, end);
    from = end;
  }
}

/** What must come of an answer that arrived whole. */
export function expectedOutcome(said: Intended, how: Manner): unknown {
  if (said.calls.length === 0 && said.text.trim() === '') return { kind: 'problem' };
  // Reasoning that was there comes first, then text, then calls.
  const content = [
    ...(said.reasoning === ''
      ? []
      : [{ type: 'thinking', thinking: said.reasoning, field: how.reasoningFields[0] }]),
    ...(said.text === '' ? [] : [{ type: 'text', text: said.text }]),
    ...said.calls.map((call) => ({
      type: 'toolCall',
      id: sendsId(call, how) ? call.id : (expect.stringMatching(/^call_1_\d$/) as unknown),
      name: call.name,
      arguments: call.args,
    })),
  ];
  const cut = said.finish === 'length';
  return {
    kind: 'message',
    message: {
      content,
      stopReason: cut ? 'length' : said.calls.length > 0 ? 'toolUse' : 'stop',
      finishReason: said.finish,
      total: how.usage === 'none' ? 0 : said.tokens + 1,
    },
  };
}

/** The outcome in the terms of `expectedOutcome`. */
export function inShort(outcome: CallOutcome): unknown {
  if (outcome.kind === 'problem') return { kind: 'problem' };
  const { content, stopReason, finishReason, usage } = outcome.message;
  return {
    kind: 'message',
    message: { content, stopReason, finishReason, total: usage.total },
  };
}
