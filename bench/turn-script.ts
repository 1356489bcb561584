// A scripted model that the prompt drives: `{"id": …, "turns": 20, "bytes": 100}` asks for so many turns with
// one call of `look_up` each, and an answer after them, `"pieces": 300` for an answer that comes in so many. It
// keeps no state, so it serves any number of sessions, of Holdfast and of the bare loop alike.

import { randomUUID } from 'node:crypto';
import { chunk, reply, step } from '../src/testing/scripted-model.js';
import type {
  ScriptedModel,
  ScriptedReply,
  ScriptedRequestBody,
} from '../src/testing/scripted-model.js';

export interface TurnPrompt {
  readonly id: string;
  readonly turns: number;
  /** Of each tool result. */
  readonly bytes: number;
  /** Of the last answer's text, one every `pieceEveryMs`. Default: one, at once. */
  readonly pieces?: number;
}

export const pieceEveryMs = 100;

export function turnPrompt(options: Omit<TurnPrompt, 'id'>): TurnPrompt {
  return { id: randomUUID(), ...options };
}

export function promptOf({ messages }: ScriptedRequestBody): TurnPrompt {
  const content = messages.find(({ role }) => role === 'user')?.content;
  const text = Array.isArray(content) ? (content[0] as { text: string }).text : content;
  return JSON.parse(String(text)) as TurnPrompt;
}

/** Turns that the request shows as done. */
export function turnsDone({ messages }: ScriptedRequestBody): number {
  return messages.filter(({ role }) => role === 'assistant').length;
}

export function turnReply(body: ScriptedRequestBody): ScriptedReply {
  const { turns, bytes, pieces } = promptOf(body);
  const seed = turnsDone(body);
  if (seed >= turns) return pieces === undefined ? reply.text('Done.') : replyInPieces(pieces);
  return reply.toolCalls([{ name: 'look_up', arguments: { bytes, seed } }]);
}

function replyInPieces(pieces: number): ScriptedReply {
  const parts = Array.from({ length: pieces }, (_, index) => [
    chunk.text(`This is piece ${index}. `),
    step.wait(pieceEveryMs),
  ]);
  return reply.raw([...parts.flat(), chunk.finish('stop'), chunk.done]);
}

/** When the requests of a session arrived, in `performance.now()`. */
export function arrivalsOf(model: ScriptedModel, { id }: TurnPrompt): readonly number[] {
  return model.requests.filter(({ body }) => promptOf(body).id === id).map(({ at }) => at);
}
