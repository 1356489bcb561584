// Answers of providers with the quirks of their servers mixed, cut anywhere, broken off anywhere, and garbage.

import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { toAbortedAnswer } from '../../src/activities/model/answer.js';
import { createStreamAccumulator } from '../../src/activities/model/stream-accumulator.js';
import { createThinkTagSplitter } from '../../src/activities/model/think-tags.js';
import { toWireId, withUniqueIds } from '../../src/activities/model/tool-call-ids.js';
import type { JsonValue } from '../../src/protocol/json.js';
import { modelDefinition } from '../activities/model/model-fixtures.js';
import { toolCall } from '../support/loop-values.js';
import { holds } from './cases.js';
import { anyText, damage, damaged, received } from './json-values.js';
import {
  callModel,
  cutBytes,
  expectedOutcome,
  inShort,
  readChunks,
  responseOf,
} from './provider-calls.js';
import type { CallOutcome } from './provider-calls.js';
import {
  bodyOf,
  chunksOf,
  framing,
  piecesOf,
  plainFraming,
  plainManner,
  providerScript,
} from './provider-script.js';

/** The response of the one model call under way. */
let respond: () => Response;

vi.mock('../../src/activities/model/provider-fetch.js', () => ({
  providerFetch: () => Promise.resolve(respond()),
}));

function read(pieces: Iterable<Uint8Array>, breaks = false): Promise<CallOutcome> {
  respond = () => responseOf(pieces, breaks);
  return callModel();
}

const cuts = fc.array(fc.nat(5_000), { maxLength: 12 });
const body = fc
  .tuple(providerScript, framing)
  .map(([script, how]) => ({ script, bytes: bodyOf(chunksOf(script), how), done: how.done }));

describe('a streamed answer', () => {
  test(
    'is what the model said, whatever the manner of its server',
    holds(
      fc.property(providerScript, (script) => {
        expect(inShort(readChunks(chunksOf(script)))).toEqual(
          expectedOutcome(script.intended, script.manner),
        );
      }),
    ),
  );

  test(
    'is the same wherever its bytes are cut',
    holds(
      fc.asyncProperty(body, cuts, async ({ script, bytes }, at) => {
        const outcome = await read(cutBytes(bytes, at));
        expect(inShort(outcome)).toEqual(expectedOutcome(script.intended, script.manner));
      }),
    ),
  );

  test('is the same cut in two at every byte', async () => {
    const text = 'Grüße 🦉';
    const script = {
      intended: {
        reasoning: '',
        text,
        calls: [{ id: 'call_1', name: 'bash', args: { command: `echo "${text}"` } }],
        finish: 'tool_calls',
        tokens: 7,
      },
      manner: { ...plainManner, cuts: [7] },
    };
    const bytes = bodyOf(chunksOf(script), { ...plainFraming, lineBreak: '\r\n' });
    const expected = expectedOutcome(script.intended, script.manner);
    for (let at = 1; at < bytes.length; at++) {
      const outcome = await read([bytes.subarray(0, at), bytes.subarray(at)]);
      expect({ at, outcome: inShort(outcome) }).toEqual({ at, outcome: expected });
    }
  });

  test(
    'that breaks off is no answer, unless nothing but its usage is missing',
    holds(
      fc.asyncProperty(
        body,
        fc.nat(5_000),
        fc.boolean(),
        cuts,
        async ({ script, bytes }, end, breaks, at) => {
          const outcome = await read(
            cutBytes(bytes.subarray(0, end % (bytes.length + 1)), at),
            breaks,
          );
          if (outcome.kind === 'problem') {
            expect(outcome.problem.kind).toBe('unavailable');
            return;
          }
          const expected = expectedOutcome(script.intended, script.manner);
          expect(withoutUsage(inShort(outcome))).toEqual(withoutUsage(expected));
        },
      ),
    ),
  );

  test(
    'ends in an answer or a stated problem, whatever bytes stand in it',
    holds(
      fc.asyncProperty(
        body,
        fc.nat(5_000),
        fc.oneof(
          fc.uint8Array({ maxLength: 30 }),
          anyText.map((text) => Buffer.from(text)),
        ),
        cuts,
        async ({ bytes }, place, garbage, at) => {
          const position = place % (bytes.length + 1);
          const whole = Buffer.concat([
            bytes.subarray(0, position),
            garbage,
            bytes.subarray(position),
          ]);
          expectStated(await read(cutBytes(whole, at)));
        },
      ),
    ),
  );

  test(
    'ends in an answer or a stated problem, whatever JSON stands in it',
    holds(
      fc.property(
        providerScript,
        fc.array(damage(['delta', 'choices', 'tool_calls', 'function', 'arguments', 'usage']), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.boolean(),
        (script, list, thinkTags) => {
          const chunks = list.reduce(
            (present, each) => damaged(present, each).value,
            received(chunksOf(script)) as unknown as JsonValue,
          );
          expectStated(readChunks(Array.isArray(chunks) ? chunks : [chunks], thinkTags));
        },
      ),
    ),
  );

  test(
    'that is aborted keeps the beginning of what the model said',
    holds(
      fc.property(providerScript, fc.nat(30), (script, count) => {
        const accumulator = createStreamAccumulator();
        for (const chunk of chunksOf(script).slice(0, count)) accumulator.add(chunk);
        const message = toAbortedAnswer(accumulator.end(), {
          model: modelDefinition(),
          usedIds: new Set(),
          transcriptLength: 0,
          attempt: 1,
        });
        expect(message.stopReason).toBe('aborted');
        const { reasoning, text, calls } = script.intended;
        const names = message.content.flatMap((block) =>
          block.type === 'toolCall' ? [block.name] : [],
        );
        expect(calls.map(({ name }) => name).slice(0, names.length)).toEqual(names);
        for (const block of message.content) {
          if (block.type === 'text') expect(text.startsWith(block.text)).toBe(true);
          if (block.type === 'thinking') expect(reasoning.startsWith(block.thinking)).toBe(true);
        }
      }),
    ),
  );
});

function withoutUsage(outcome: unknown): unknown {
  const { message, ...rest } = outcome as { readonly message?: object };
  return { ...rest, message: { ...message, total: undefined } };
}

/** Of a problem a person is told in a sentence; a message fits JSON and has whole arguments. */
function expectStated(outcome: CallOutcome): void {
  if (outcome.kind === 'problem') {
    expect(outcome.problem.message).toMatch(/^[A-Z].{10,}/s);
    return;
  }
  const { message } = outcome;
  expect(received(message)).toEqual(JSON.parse(JSON.stringify(message)));
  expect(['stop', 'length', 'toolUse']).toContain(message.stopReason);
  for (const block of message.content) {
    if (block.type !== 'toolCall') continue;
    expect(block.name).not.toBe('');
    // Arguments that are no object are told to the model, not guessed.
    if (block.argumentsError !== undefined) expect(block.arguments).toEqual({});
  }
}

describe('the think-tag splitter', () => {
  const tagged = fc
    .array(
      fc.oneof(
        fc.constantFrom('<think>', '</think>', '<think', '</', '<', '>', '\n', ' ', 'thought'),
        anyText,
      ),
      { maxLength: 10 },
    )
    .map((parts) => parts.join(''));

  /** The whole text read at once. */
  function split(content: string): { readonly text: string; readonly thinking: string } {
    let text = '';
    let thinking = '';
    let rest = content;
    // A closing tag that was never opened: its opening tag stood in the prompt.
    const opening = rest.indexOf('<think>');
    const closing = rest.indexOf('</think>');
    if (closing !== -1 && (opening === -1 || closing < opening)) {
      thinking = rest.slice(0, closing);
      rest = rest.slice(closing + '</think>'.length).trimStart();
    }
    for (;;) {
      const from = rest.indexOf('<think>');
      if (from === -1) return { text: text + rest, thinking };
      text += rest.slice(0, from);
      rest = rest.slice(from + '<think>'.length);
      const to = rest.indexOf('</think>');
      if (to === -1) return { text, thinking: thinking + rest };
      thinking += rest.slice(0, to);
      rest = rest.slice(to + '</think>'.length).trimStart();
    }
  }

  test(
    'takes reasoning out of the content, wherever the content is cut',
    holds(
      fc.property(tagged, fc.array(fc.nat(200), { maxLength: 10 }), (content, at) => {
        const splitter = createThinkTagSplitter();
        let text = '';
        let thinking = '';
        const pieces = piecesOf(content, at).flatMap((piece) => splitter.push(piece));
        for (const piece of [...pieces, ...splitter.end()]) {
          if (piece.reclassify) {
            thinking += text;
            text = '';
          }
          thinking += piece.thinking;
          text += piece.text;
        }
        expect({ text, thinking }).toEqual(split(content));
      }),
    ),
  );
});

describe('ids of tool calls', () => {
  const id = fc.oneof(
    fc.constantFrom('', 'a', 'b', 'call_3_1', 'call_3_2', 'call_3_1_1', 'x'.repeat(201)),
    anyText,
  );

  /** Many differ in their end only. */
  const wireId = fc.oneof(
    anyText,
    fc
      .tuple(fc.constantFrom('x'.repeat(39), 'y'.repeat(60)), fc.string({ maxLength: 2 }))
      .map((parts) => parts.join('')),
  );

  test(
    'are unique in the transcript, and kept where they can be',
    holds(
      fc.property(fc.array(id, { maxLength: 6 }), fc.array(id, { maxLength: 6 }), (ids, used) => {
        const calls = ids.map((each) => toolCall(each));
        const unique = withUniqueIds(calls, new Set(used), 3).map((call) => call.id);
        expect(new Set([...unique, ...used]).size).toBe(unique.length + new Set(used).size);
        for (const [index, each] of unique.entries()) {
          expect(each.length).toBeGreaterThan(0);
          expect(each.length).toBeLessThanOrEqual(200);
          const given = ids[index] ?? '';
          const isFree =
            given !== '' &&
            given.length <= 200 &&
            !used.includes(given) &&
            !unique.slice(0, index).includes(given);
          if (isFree) expect(each).toBe(given);
        }
      }),
    ),
  );

  test(
    'have a shape on the wire that servers take, and different ids stay different',
    holds(
      fc.property(wireId, wireId, (one, other) => {
        for (const shape of [undefined, 'as-is', 'nine-alphanumerics'] as const) {
          const [first, second] = [toWireId(one, shape), toWireId(other, shape)];
          expect(first === second).toBe(one === other);
          expect(toWireId(one, shape)).toBe(first);
          if (shape === undefined) expect(first.length).toBeLessThanOrEqual(40);
          if (shape === 'nine-alphanumerics') expect(first).toMatch(/^[A-Za-z0-9]{9}$/);
        }
      }),
    ),
  );
});
