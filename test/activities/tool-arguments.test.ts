import { describe, expect, test } from 'vitest';
import type { ToolDefinition } from '../../src/activities/definitions.js';
import { prepareCall } from '../../src/activities/tool-arguments.js';
import type { JsonObject } from '../../src/protocol/json.js';
import { call, toolSpec } from './model/model-fixtures.js';

const schema: JsonObject = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    limit: { type: 'integer', minimum: 1 },
    ratio: { type: 'number' },
    force: { type: 'boolean' },
    mode: { enum: ['a', 'b'] },
    nested: {
      type: 'object',
      properties: { count: { type: 'number' }, note: { type: 'string' } },
      required: ['note'],
    },
    list: { type: 'array', items: { type: 'number' } },
    either: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    word: { type: ['string', 'number'] },
  },
  required: ['path'],
};

function prepare(
  args: JsonObject,
  parameters: JsonObject = schema,
  tool?: Partial<ToolDefinition>,
) {
  const definition = { name: 't', description: '', parameters, execute: () => '', ...tool };
  return prepareCall(call('id', 't', args), [toolSpec('t', parameters)], { t: definition });
}

const textOf = (outcome: ReturnType<typeof prepare>) =>
  outcome.kind === 'settled' ? outcome.text : 'ready';

describe('prepareCall: lookup', () => {
  test('an unknown tool is settled with the names of the known ones', () => {
    const specs = [toolSpec('read'), toolSpec('bash')];
    expect(prepareCall(call('id', 'Read'), specs, {})).toEqual({
      kind: 'settled',
      text: 'There is no tool named "Read". Known tools: read, bash.',
    });
  });

  test.each(['constructor', '__proto__', 'toString', ''])('the name %j finds nothing', (name) => {
    expect(prepareCall(call('id', name), [toolSpec('read')], {}).kind).toBe('settled');
  });

  test('a tool that the worker does not have itself is prepared by its recorded schema', () => {
    const specs = [toolSpec('remote', schema)];
    expect(prepareCall(call('id', 'remote', { path: 'a', limit: '3' }), specs, {})).toEqual({
      kind: 'ready',
      arguments: { path: 'a', limit: 3 },
    });
  });
});

describe('prepareCall: arguments', () => {
  test('arguments as they should be are not repeated', () => {
    expect(prepare({ path: 'a', limit: 3, list: [1] })).toEqual({ kind: 'ready' });
  });

  test('unknown fields are kept', () => {
    expect(prepare({ path: 'a', more: 'x', limit: '2' })).toEqual({
      kind: 'ready',
      arguments: { path: 'a', more: 'x', limit: 2 },
    });
  });

  test.each([
    ['limit', '3', 3],
    ['ratio', ' -1.5e2 ', -150],
    ['ratio', '.5', 0.5],
    ['force', 'true', true],
    ['force', 'False', false],
    ['either', '7', 7],
    ['list', ['1', 2, '3.5'], [1, 2, 3.5]],
    ['nested', { note: 'n', count: '4' }, { note: 'n', count: 4 }],
  ])('a numeric or boolean text is coerced: %s %j', (field, value, expected) => {
    const given = { path: 'a', [field]: value };
    expect(prepare(given)).toEqual({
      kind: 'ready',
      arguments: { path: 'a', [field]: expected },
    });
    expect(given[field], 'the model’s own arguments stay').toEqual(value);
  });

  test.each([
    ['limit', '3.5'],
    ['limit', 'three'],
    ['limit', ''],
    ['limit', '0x10'],
    ['limit', 'Infinity'],
    ['limit', true],
    ['force', '1'],
    ['force', 'yes'],
    ['force', 1],
    ['path', 7],
    ['list', '1'],
    ['nested', '{"note":"n"}'],
  ])('nothing else is: %s %j', (field, value) => {
    expect(textOf(prepare({ path: 'a', [field]: value }))).toContain(`/${field} must be`);
  });

  test('a text that the schema accepts stays a text', () => {
    expect(prepare({ path: '7', word: '7' })).toEqual({ kind: 'ready' });
  });

  test('null for an absent optional is treated as omitted', () => {
    expect(
      prepare({ path: 'a', limit: null, mode: null, nested: { note: 'n', count: null } }),
    ).toEqual({ kind: 'ready', arguments: { path: 'a', nested: { note: 'n' } } });
  });

  test('null stays where the schema accepts it, and is an error where the field is required', () => {
    expect(prepare({ path: 'a', either: null })).toEqual({ kind: 'ready' });
    expect(textOf(prepare({ path: null }))).toContain('/path must be string');
    expect(textOf(prepare({ path: 'a', nested: { note: null } }))).toContain(
      '/nested/note must be string',
    );
    expect(textOf(prepare({ path: 'a', list: [null] }))).toContain('/list/0 must be number');
  });

  test('the error names the tool, each path and the received arguments', () => {
    expect(prepare({ limit: 'many', mode: 'c' })).toEqual({
      kind: 'settled',
      text: [
        'Invalid arguments for "t"; nothing was executed:',
        "- the arguments must have required property 'path'",
        '- /limit must be integer',
        '- /mode must be equal to one of the allowed values (["a","b"])',
        'Received: {"limit":"many","mode":"c"}',
      ].join('\n'),
    });
  });

  test('a field that the schema forbids is named', () => {
    const closed = { type: 'object', properties: {}, additionalProperties: false };
    expect(textOf(prepare({ extra: 1 }, closed))).toContain('(extra)');
  });

  test('the error is bounded, whatever was received', () => {
    const list = Array.from({ length: 500 }, () => 'x'.repeat(1000));
    expect(textOf(prepare({ path: 'a', list })).length).toBeLessThan(6000);
  });

  test('arguments that did not parse are settled with the raw text', () => {
    const broken = { ...call('id', 't', {}), argumentsError: { message: 'bad', raw: '{"a":' } };
    expect(prepareCall(broken, [toolSpec('t')], {})).toEqual({
      kind: 'settled',
      text: 'The arguments of "t" could not be read: bad. Nothing was executed. Received: {"a":',
    });
  });

  test('a field named __proto__ is data', () => {
    const args = JSON.parse('{"path":"a","__proto__":{"path":1}}') as JsonObject;
    expect(prepare(args)).toEqual({ kind: 'ready' });
    expect(({} as { path?: unknown }).path).toBeUndefined();
  });
});

describe('prepareCall: prepareArguments', () => {
  test('mends a copy before validation', () => {
    const given = { file: 'a', limit: '2' };
    const outcome = prepare(given, schema, {
      prepareArguments: (args) => {
        const { file, ...rest } = args as { file?: string };
        delete (args as { file?: string }).file;
        return { ...rest, path: file };
      },
    });
    expect(outcome).toEqual({ kind: 'ready', arguments: { path: 'a', limit: 2 } });
    expect(given).toEqual({ file: 'a', limit: '2' });
  });

  test('a throw settles the call with its message', () => {
    const outcome = prepare({ path: 'a' }, schema, {
      prepareArguments: () => {
        throw new Error('no such thing');
      },
    });
    expect(textOf(outcome)).toContain('"t" could not be prepared: no such thing');
  });

  test.each([undefined, 7, [], Promise.resolve({})])(
    'an answer of %o settles the call',
    (answer) => {
      const outcome = prepare({ path: 'a' }, schema, { prepareArguments: () => answer as never });
      expect(textOf(outcome)).toContain('answered no object');
    },
  );
});

describe('prepareCall: schemas', () => {
  const drafts = [
    undefined,
    'http://json-schema.org/draft-04/schema#',
    'http://json-schema.org/draft-06/schema#',
    'http://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    'https://json-schema.org/draft/2020-12/schema',
  ];

  test.each(drafts)('draft %s is understood', (draft) => {
    const named = { ...schema, ...(draft && { $schema: draft }) };
    expect(prepare({ path: 'a', limit: '2' }, named)).toEqual({
      kind: 'ready',
      arguments: { path: 'a', limit: 2 },
    });
    expect(textOf(prepare({}, named))).toContain('required property');
  });

  test('tuples of both kinds are understood without a draft', () => {
    const older = { properties: { pair: { items: [{ type: 'number' }] } } };
    const newer = { properties: { pair: { prefixItems: [{ type: 'number' }] } } };
    for (const each of [older, newer]) {
      expect(prepare({ pair: [1] }, each)).toEqual({ kind: 'ready' });
      expect(textOf(prepare({ pair: ['x'] }, each))).toContain('/pair/0 must be number');
    }
  });

  test('references inside the schema are followed, ids may repeat between tools', () => {
    const one = {
      $id: 'https://example.com/same',
      properties: { n: { $ref: '#/$defs/n' } },
      $defs: { n: { type: 'number' } },
    };
    const two = { ...one, $defs: { n: { type: 'boolean' } } };
    expect(prepare({ n: '1' }, one)).toEqual({ kind: 'ready', arguments: { n: 1 } });
    expect(prepare({ n: 'true' }, two)).toEqual({ kind: 'ready', arguments: { n: true } });
  });

  test.each(drafts)('a schema that refers to itself is followed, in draft %s', (draft) => {
    const tree = {
      ...(draft !== undefined && { $schema: draft }),
      properties: { name: { type: 'string' }, nodes: { type: 'array', items: { $ref: '#' } } },
    };
    for (const each of [tree, { ...tree, $id: 'https://example.com/tree' }]) {
      expect(prepare({ name: 'a', nodes: [{ name: 'b', nodes: [] }] }, each).kind).toBe('ready');
      expect(textOf(prepare({ nodes: [{ nodes: [{ name: 5 }] }] }, each))).toContain(
        '/nodes/0/nodes/0/name must be string',
      );
    }
    // What one schema refers to is not what another does.
    const other = { ...tree, properties: { ...tree.properties, name: { type: 'number' } } };
    expect(prepare({ nodes: [{ name: 5 }] }, other)).toEqual({ kind: 'ready' });
  });

  test('unknown keywords and formats are let pass', () => {
    const odd = { properties: { u: { type: 'string', format: 'odd', 'x-note': 1 } } };
    expect(prepare({ u: 'a' }, odd)).toEqual({ kind: 'ready' });
  });

  test('a parameter may be called as what every object inherits, and be absent', () => {
    const inherited = {
      properties: { constructor: { type: 'string' }, toString: { type: 'number' } },
      additionalProperties: false,
    };
    expect(prepare({}, inherited)).toEqual({ kind: 'ready' });
    expect(prepare({ toString: '5' } as never, inherited)).toEqual({
      kind: 'ready',
      arguments: { toString: 5 },
    });
    const required = { ...inherited, required: ['constructor'] };
    expect(textOf(prepare({}, required))).toContain("required property 'constructor'");
  });

  test.each<[string, JsonObject, unknown, unknown]>([
    ['nullable beside anyOf', { nullable: true, anyOf: [{ type: 'number' }] }, null, 'x'],
    ['nullable beside enum', { nullable: true, enum: ['a'] }, null, 'b'],
    ['nullable beside a reference', { nullable: true, $ref: '#/$defs/word' }, null, 5],
    ['nullable beside a type', { nullable: true, type: 'string' }, null, 5],
    ['nullable that is false', { nullable: false, enum: ['a'] }, 'a', 'b'],
    ['exclusiveMinimum: true', { minimum: 3, exclusiveMinimum: true }, 4, 3],
    ['exclusiveMaximum: false', { maximum: 3, exclusiveMaximum: false }, 3, 4],
    ['exclusiveMinimum: true alone', { type: 'number', exclusiveMinimum: true }, 3, 'x'],
    ['required: true', { type: 'string', required: true }, 'a', 5],
    ["a pattern that is not JavaScript's", { type: 'string', pattern: '(?i)a' }, 'x', 5],
  ])('%s is understood, at every depth', (_, field, good, bad) => {
    const shapes = (inner: JsonObject, draft?: string) =>
      [
        { properties: { a: inner } },
        { properties: { a: { properties: { nullable: inner }, required: ['nullable'] } } },
        { properties: { a: { items: { allOf: [{ additionalProperties: inner }] } } } },
      ].map((properties) => ({
        ...properties,
        ...(draft !== undefined && { $schema: draft }),
        required: ['a'],
        $defs: { word: { type: 'string' } },
      }));
    for (const draft of [undefined, 'http://json-schema.org/draft-07/schema#']) {
      const [plain, object, list] = shapes(field, draft);
      for (const [value, kind] of [
        [good, 'ready'],
        [bad, 'settled'],
      ] as const) {
        expect(prepare({ a: value } as JsonObject, plain)).toMatchObject({ kind });
        expect(prepare({ a: { nullable: value } } as JsonObject, object)).toMatchObject({ kind });
        expect(prepare({ a: [{ x: value }] } as JsonObject, list)).toMatchObject({ kind });
      }
    }
  });

  test('what a schema holds as data is none of its keywords', () => {
    const word = { const: { nullable: true, exclusiveMinimum: true, pattern: '(' } };
    const odd = { properties: { a: word, b: { minimum: 1, exclusiveMinimum: false } } };
    expect(prepare({ a: { ...word.const }, b: 1 }, odd)).toEqual({ kind: 'ready' });
    expect(textOf(prepare({ a: {} }, odd))).toContain('/a must be equal to constant');
  });

  test.each([
    { type: 'nonsense' },
    { properties: { a: { $ref: 'https://example.com/elsewhere' } } },
    { $schema: 'https://json-schema.org/draft/2020-12/schema', items: [] },
    { $async: true },
    { properties: { a: { $ref: '#/properties/a' } } },
    { allOf: [{ $ref: '#' }] },
    { $dynamicRef: '#' },
    {
      properties: { a: { $ref: '#/$defs/x' } },
      $defs: { x: { anyOf: [{ $ref: '#/$defs/y' }] }, y: { anyOf: [{ $ref: '#/$defs/x' }] } },
    },
  ])('a broken schema is a text, never a crash: %o', (broken) => {
    const outcome = prepare({ a: 'x' }, broken);
    expect(textOf(outcome)).toContain('"t" cannot be called: its parameter schema is broken (');
  });
});
