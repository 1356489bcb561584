// Answers as compatible servers stream them: what the model means to say, and the manner in which its server
// says it. Every manner is one that some server has; those that leave two answers possible are left out.

import fc from 'fast-check';
import type { JsonObject } from '../../src/protocol/json.js';
import { anyJson, anyText } from './json-values.js';

export interface IntendedCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly id: string;
}

/** What the model says. */
export interface Intended {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly IntendedCall[];
  readonly finish: string;
  readonly tokens: number;
}

/** How its server says it. */
export interface Manner {
  readonly reasoningFields: readonly string[];
  /** `zero`: 0 for all; `from one`: 1, 2, … */
  readonly index: 'right' | 'from one' | 'missing' | 'zero';
  readonly id: 'first' | 'every' | 'missing' | 'late';
  readonly name: 'first' | 'every';
  readonly args: 'pieces' | 'whole' | 'object' | 'encoded';
  /** How `{}` is written. */
  readonly noArgs: '{}' | '' | 'null' | 'missing' | 'null value';
  readonly interleaved: boolean;
  /** All calls in one chunk, where they are whole. */
  readonly together: boolean;
  readonly usage: 'last' | 'choice' | 'every' | 'none';
  readonly content: 'text' | 'parts';
  /** Where texts are cut, in UTF-16 units modulo their length. */
  readonly cuts: readonly number[];
  /** Chunks without meaning, and where they come in. */
  readonly noise: readonly (readonly [at: number, what: number])[];
}

export interface ProviderScript {
  readonly intended: Intended;
  readonly manner: Manner;
}

export type Chunk = { readonly [field: string]: unknown };

const callNames = ['bash', 'read', 'edit', 'search_web'];

const intended: fc.Arbitrary<Intended> = fc
  .record({
    reasoning: fc.oneof(fc.constant(''), anyText),
    text: fc.oneof(fc.constant(''), fc.constant('Fine.'), anyText),
    calls: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom(...callNames),
        args: fc.oneof(
          fc.constant({}),
          fc.dictionary(anyText, anyJson, { maxKeys: 3 }) as fc.Arbitrary<JsonObject>,
        ),
        id: fc.constantFrom('call_1', 'call_2', 'c', 'x'.repeat(30), 'chatcmpl-tool-7'),
      }),
      { maxLength: 4, selector: ({ id }) => id },
    ),
    tokens: fc.nat(500),
  })
  .chain((said) =>
    fc
      .constantFrom(
        ...(said.calls.length > 0
          ? ['tool_calls', 'stop', 'end_turn', 'tool_use', 'function_call', 'length']
          : ['stop', 'end_turn', 'eos', 'length']),
      )
      .map((finish) => ({ ...said, finish })),
  );

const manner: fc.Arbitrary<Manner> = fc.record({
  reasoningFields: fc.constantFrom(
    ['reasoning_content'],
    ['reasoning'],
    ['reasoning_text'],
    ['reasoning_content', 'reasoning'],
  ),
  index: fc.constantFrom<Manner['index']>('right', 'right', 'from one', 'missing', 'zero'),
  id: fc.constantFrom<Manner['id']>('first', 'first', 'every', 'missing', 'late'),
  name: fc.constantFrom<Manner['name']>('first', 'first', 'every'),
  args: fc.constantFrom<Manner['args']>('pieces', 'pieces', 'whole', 'object', 'encoded'),
  noArgs: fc.constantFrom<Manner['noArgs']>('{}', '', 'null', 'missing', 'null value'),
  interleaved: fc.boolean(),
  together: fc.boolean(),
  usage: fc.constantFrom<Manner['usage']>('last', 'choice', 'every', 'none'),
  content: fc.oneof(
    { arbitrary: fc.constant<Manner['content']>('text'), weight: 4 },
    { arbitrary: fc.constant<Manner['content']>('parts'), weight: 1 },
  ),
  cuts: fc.array(fc.nat(1_000), { maxLength: 8 }),
  noise: fc.array(fc.tuple(fc.nat(30), fc.nat(20)), { maxLength: 4 }),
});

/** As OpenAI says it. */
export const plainManner: Manner = {
  reasoningFields: ['reasoning_content'],
  index: 'right',
  id: 'first',
  name: 'first',
  args: 'pieces',
  noArgs: '{}',
  interleaved: false,
  together: false,
  usage: 'last',
  content: 'text',
  cuts: [],
  noise: [],
};

export const providerScript: fc.Arbitrary<ProviderScript> = fc
  .tuple(intended, manner)
  .map(([said, how]) => ({ intended: said, manner: unambiguous(said, how) }));

/** Without what would leave a call's pieces, or the border between two calls, to guessing. */
function unambiguous({ calls }: Intended, how: Manner): Manner {
  const several = calls.length > 1;
  const indexed = how.index === 'right' || how.index === 'from one';
  // Where nothing else tells calls apart, their names must.
  const named = new Set(calls.map(({ name }) => name)).size === calls.length;
  const id =
    (how.id === 'missing' || how.id === 'late') && several && !indexed && !named ? 'first' : how.id;
  // An id that comes late must find its call: by index, or because there is no other.
  const findable = id === 'late' && several && !indexed ? 'first' : id;
  return {
    ...how,
    id: findable,
    interleaved: how.interleaved && (indexed || findable === 'every'),
    // A name in every piece begins another call where an index or id does not say otherwise.
    name: how.interleaved && !indexed ? 'first' : how.name,
  };
}

/** The chunks of the answer, in order, as objects. */
export function chunksOf({ intended: said, manner: how }: ProviderScript): readonly Chunk[] {
  const chunk = (delta: object | null, fields: object = {}): Chunk => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: null, ...fields }],
  });
  const usage = {
    prompt_tokens: said.tokens,
    completion_tokens: 1,
    total_tokens: said.tokens + 1,
  };
  const content = (text: string) => (how.content === 'text' ? text : [{ type: 'text', text }]);
  const chunks: Chunk[] = [
    chunk({ role: 'assistant', content: '' }),
    ...piecesOf(said.reasoning, how.cuts).map((text) =>
      chunk(Object.fromEntries(how.reasoningFields.map((field) => [field, text]))),
    ),
    ...piecesOf(said.text, how.cuts).map((text) => chunk({ content: content(text) })),
    ...callChunks(said, how).map((calls) => chunk({ tool_calls: calls })),
    chunk({}, { finish_reason: said.finish, ...(how.usage === 'choice' && { usage }) }),
  ];
  for (const [at, what] of how.noise) {
    // Not behind the finish reason: the answer is over then.
    chunks.splice(at % chunks.length, 0, noise(what));
  }
  if (how.usage === 'every') return chunks.map((each) => ({ ...each, usage }));
  return how.usage === 'last' ? [...chunks, { id: 'chatcmpl-1', choices: [], usage }] : chunks;
}

function noise(what: number): Chunk {
  const kinds: readonly Chunk[] = [
    { choices: [] },
    {},
    { choices: [{ index: 0, delta: null }] },
    { choices: [{ index: 0, delta: { content: null } }] },
    { choices: [{ index: 0, delta: { content: '', tool_calls: [] }, finish_reason: '' }] },
    { choices: [{ index: 0, delta: { tool_calls: null, reasoning_content: null } }] },
    { choices: null, usage: null },
    { choices: [null], error: null },
    { choices: [{ index: 1, delta: { content: 'another choice' }, finish_reason: 'stop' }] },
    { object: 'keep-alive', choices: [{ delta: {} }] },
  ];
  return kinds[what % kinds.length] as Chunk;
}

/** A text in pieces, cut anywhere, also inside surrogate pairs. */
export function piecesOf(text: string, cuts: readonly number[]): readonly string[] {
  if (text === '') return [];
  const at = [...new Set(cuts.map((cut) => cut % text.length))].toSorted((a, b) => a - b);
  return [...at, text.length]
    .map((end, index, ends) => text.slice(index === 0 ? 0 : ends[index - 1], end))
    .filter((piece) => piece !== '');
}

function callChunks({ calls }: Intended, how: Manner): readonly (readonly object[])[] {
  const byCall = calls.map((call, position) => deltasOf(call, position, how));
  if (how.together && how.args !== 'pieces' && how.id !== 'late') {
    return byCall.length === 0 ? [] : [byCall.flat()];
  }
  if (!how.interleaved) return byCall.flat().map((delta) => [delta]);
  const longest = Math.max(0, ...byCall.map((deltas) => deltas.length));
  return Array.from({ length: longest }, (_, n) =>
    byCall.flatMap((deltas) => deltas.slice(n, n + 1)),
  ).flatMap((deltas) => deltas.map((delta) => [delta]));
}

function deltasOf({ name, args, id }: IntendedCall, position: number, how: Manner): object[] {
  const pieces = argumentPieces(args, how);
  return pieces.map((piece, n) => {
    const isFirst = n === 0;
    const hasId =
      how.id === 'every' || (how.id === 'first' && isFirst) || (how.id === 'late' && n === 1);
    const index = { right: position, 'from one': position + 1, zero: 0, missing: undefined };
    return {
      ...(index[how.index] === undefined ? {} : { index: index[how.index] }),
      ...(hasId ? { id } : {}),
      type: 'function',
      function: {
        ...(isFirst || how.name === 'every' ? { name } : {}),
        ...(piece === undefined ? {} : { arguments: piece }),
      },
    };
  });
}

/** Whether the call's id comes at all. */
export function sendsId({ args }: IntendedCall, how: Manner): boolean {
  return how.id !== 'missing' && (how.id !== 'late' || argumentPieces(args, how).length > 1);
}

function argumentPieces(args: JsonObject, how: Manner): readonly unknown[] {
  if (Object.keys(args).length === 0) {
    const empty = { '{}': '{}', '': '', null: 'null', missing: undefined, 'null value': null };
    return [empty[how.noArgs]];
  }
  const text = JSON.stringify(args);
  switch (how.args) {
    case 'object':
      return [args];
    case 'whole':
      return [text];
    case 'encoded':
      return [JSON.stringify(text)];
    case 'pieces':
      // The first piece often carries the name only.
      return how.cuts.length % 2 === 0
        ? ['', ...piecesOf(text, how.cuts)]
        : piecesOf(text, how.cuts);
  }
}

/** How the events stand in the body. */
export interface Framing {
  readonly lineBreak: '\n' | '\r\n' | '\r';
  readonly space: boolean;
  readonly comments: readonly number[];
  readonly eventLines: boolean;
  readonly done: 'with blank line' | 'without blank line' | 'missing';
  readonly byteOrderMark: boolean;
}

export const plainFraming: Framing = {
  lineBreak: '\n',
  space: true,
  comments: [1],
  eventLines: false,
  done: 'with blank line',
  byteOrderMark: false,
};

export const framing: fc.Arbitrary<Framing> = fc.record({
  lineBreak: fc.constantFrom('\n', '\n', '\r\n', '\r'),
  space: fc.boolean(),
  comments: fc.array(fc.nat(30), { maxLength: 3 }),
  eventLines: fc.boolean(),
  done: fc.constantFrom('with blank line', 'with blank line', 'without blank line', 'missing'),
  byteOrderMark: fc.boolean(),
});

/** The body of the response. */
export function bodyOf(chunks: readonly Chunk[], how: Framing): Uint8Array {
  const line = how.lineBreak;
  const data = (text: string) => `data:${how.space ? ' ' : ''}${text}${line}${line}`;
  const events = chunks.map((chunk, index) => {
    const comment = how.comments.includes(index) ? `: OPENROUTER PROCESSING${line}${line}` : '';
    const event = how.eventLines ? `event: message${line}id: ${index}${line}` : '';
    return `${comment}${event}${data(JSON.stringify(chunk))}`;
  });
  const done = how.done === 'missing' ? '' : data('[DONE]');
  const mark = how.byteOrderMark ? '\ufeff' : '';
  const body = mark + events.join('') + (how.done === 'without blank line' ? done.trimEnd() : done);
  return new TextEncoder().encode(body);
}
