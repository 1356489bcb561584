// The runs that workers are killed under: ten turns with mixed tools, drawn from a seed, so that the model
// needs no memory, and what the tools must have left behind at the end.
//
// Every effect carries a key of its own: a line that bash appends to a file of the run, a word that edit puts
// into another. A key that is there twice is an effect that happened twice.

import { createHash } from 'node:crypto';
import { reply } from '../src/testing/scripted-model.js';
import type {
  ScriptedReply,
  ScriptedRequestBody,
  ScriptedToolCall,
} from '../src/testing/scripted-model.js';
import { createRandom } from './random.js';
import type { Random } from './random.js';

export const turnsPerRun = 10;

export interface KillRun {
  readonly seed: number;
  readonly name: string;
}

export const logFile = ({ name }: KillRun) => `${name}.log`;
export const editedFile = ({ name }: KillRun) => `${name}.txt`;

export function promptOfRun({ seed, name }: KillRun): string {
  return `run ${seed} ${name}`;
}

export function replyOfRun(body: ScriptedRequestBody): ScriptedReply {
  const run = runOf(body);
  const turn = body.messages.filter(({ role }) => role === 'assistant').length + 1;
  const delayMs = Math.round(randomOf(run, turn, 'delay')() * 120);
  if (turn > turnsPerRun) return reply.text(`All of ${run.name} is done.`, { delayMs });
  return reply.toolCalls(callsOf(run, turn), { text: `Turn ${turn}.`, delayMs, chunkSize: 40 });
}

/** The calls of a turn; the same for every attempt. */
export function callsOf(run: KillRun, turn: number): readonly ScriptedToolCall[] {
  const random = randomOf(run, turn, 'calls');
  const key = (index: number) => `${run.name}/${turn}/${index}`;
  const bash = (index: number): ScriptedToolCall => {
    const before = (random() * 0.4).toFixed(2);
    const after = (random() * 0.4).toFixed(2);
    const line = `sleep ${before}; echo ${key(index)} >> ${logFile(run)}; sleep ${after}; echo ${key(index)}`;
    return { name: 'bash', arguments: { command: line } };
  };
  const read: ScriptedToolCall = { name: 'read', arguments: { path: editedFile(run) } };
  const kinds: readonly (() => readonly ScriptedToolCall[])[] = [
    () => [bash(0)],
    () => [bash(0), bash(1), read],
    () => [read, read, read],
    () => [
      { name: 'write', arguments: { path: `${run.name}-${turn}.md`, content: key(0).repeat(50) } },
    ],
    () => [
      {
        name: 'edit',
        arguments: { path: editedFile(run), oldText: 'END', newText: `${key(0)}\nEND` },
      },
    ],
    () => [
      read,
      {
        name: 'edit',
        arguments: { path: editedFile(run), oldText: 'END', newText: `${key(1)}\nEND` },
      },
      bash(2),
    ],
  ];
  // Each run begins with the tool that must not run twice.
  const kind = turn === 1 ? 0 : Math.floor(random() * kinds.length);
  return kinds[kind]?.() ?? [];
}

function runOf({ messages }: ScriptedRequestBody): KillRun {
  const [, seed, name] = /run (\d+) ([\w-]+)/.exec(JSON.stringify(messages)) ?? [];
  if (seed === undefined || name === undefined) throw new Error('The prompt names no run.');
  return { seed: Number(seed), name };
}

function randomOf({ seed, name }: KillRun, turn: number, purpose: string): Random {
  const hash = createHash('sha256').update(`${seed} ${name} ${turn} ${purpose}`).digest();
  return createRandom(hash.readUInt32LE(0));
}
