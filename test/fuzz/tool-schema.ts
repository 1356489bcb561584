// Random parameter schemas as tools have them, as a small tree that can be written in JSON schema or in zod,
// and of which valid arguments can be made.

import fc from 'fast-check';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../src/protocol/json.js';
import { wellFormed } from '../../src/protocol/text.js';
import { anyText } from './json-values.js';

export type Node =
  | { readonly kind: 'string'; readonly minLength?: number; readonly format?: string }
  | { readonly kind: 'number' | 'integer'; readonly minimum?: number; readonly maximum?: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'null' }
  | { readonly kind: 'enum'; readonly values: readonly JsonValue[] }
  | { readonly kind: 'list'; readonly item: Node; readonly maxItems?: number }
  | { readonly kind: 'either'; readonly options: readonly Node[] }
  | { readonly kind: 'nullable'; readonly inner: Node }
  /** Written once, and referred to. */
  | { readonly kind: 'shared'; readonly inner: Node }
  /** A list of arguments of the same tool: a schema that refers to itself. */
  | { readonly kind: 'self' }
  | ObjectNode;

export interface ObjectNode {
  readonly kind: 'object';
  readonly fields: readonly Field[];
  /** Whether fields of other names are let in: undefined says nothing, which lets them in. */
  readonly open?: boolean;
}

export interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly node: Node;
}

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** Without the fields that are undefined. */
function compact<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}

/** Without `__proto__`, which Ajv never reads as a property's name. */
const fieldNames = [
  'path',
  'limit',
  'force',
  'a/b',
  'a~b',
  'constructor',
  'toString',
  '',
  'nullable',
  'type',
  'größe',
];

/** JSON that travels has no halves of surrogate pairs. */
const otherName = anyText.map((text) => wellFormed(text)).filter((text) => text !== '__proto__');

const { node } = fc.letrec<{ node: Node; object: ObjectNode }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc
      .record({
        kind: fc.constant('string' as const),
        minLength: optional(fc.nat(3)),
        format: optional(fc.constantFrom('date-time', 'uri', 'uint64', 'made-up')),
      })
      .map((value) => compact(value) as Node),
    fc
      .record({
        kind: fc.constantFrom('number' as const, 'integer' as const),
        minimum: optional(fc.integer({ min: -5, max: 0 })),
        maximum: optional(fc.integer({ min: 1, max: 9 })),
      })
      .map((value) => compact(value) as Node),
    fc.constant<Node>({ kind: 'boolean' }),
    fc
      .uniqueArray(fc.constantFrom<JsonValue>('a', 'b', '', 0, 1, true, null, '1', 'true'), {
        minLength: 1,
        maxLength: 4,
      })
      .map((values): Node => ({ kind: 'enum', values })),
    fc.constantFrom<Node>({ kind: 'null' }, { kind: 'self' }),
    fc
      .record({
        kind: fc.constant('list' as const),
        item: tie('node'),
        maxItems: optional(fc.nat(4)),
      })
      .map((value) => compact(value) as Node),
    fc
      .array(tie('node'), { minLength: 1, maxLength: 3 })
      .map((options): Node => ({ kind: 'either', options })),
    tie('node').map((inner): Node => ({ kind: 'nullable', inner })),
    tie('node').map((inner): Node => ({ kind: 'shared', inner })),
    tie('object'),
  ),
  object: fc
    .record({
      kind: fc.constant('object' as const),
      fields: fc.uniqueArray(
        fc.record({
          name: fc.oneof(
            { arbitrary: fc.constantFrom(...fieldNames), weight: 5 },
            { arbitrary: otherName, weight: 1 },
          ),
          required: fc.boolean(),
          node: tie('node'),
        }),
        { maxLength: 4, selector: ({ name }) => name },
      ),
      open: optional(fc.boolean()),
    })
    .map((value) => compact(value) as ObjectNode),
}));

export const parameterNode = fc
  .record({
    fields: fc.uniqueArray(
      fc.record({ name: fc.constantFrom(...fieldNames), required: fc.boolean(), node }),
      { minLength: 1, maxLength: 5, selector: ({ name }) => name },
    ),
    open: optional(fc.boolean()),
  })
  .map((value) => compact({ kind: 'object', ...value }) as ObjectNode);

/** How the schema is written, where the same can be said in several ways. */
export interface Dialect {
  readonly draft: '2020-12' | '2019-09' | '07' | '06' | 'none';
  readonly nullable: 'type list' | 'anyOf' | 'oneOf' | 'keyword';
  readonly either: 'anyOf' | 'oneOf-free';
  /** `minimum` with a boolean `exclusiveMinimum`, as drafts before 6 and OpenAPI have it. */
  readonly booleanBounds: boolean;
  /** Keywords that no draft knows. */
  readonly unknown: boolean;
}

export const dialect: fc.Arbitrary<Dialect> = fc.record({
  draft: fc.constantFrom('none', 'none', '2020-12', '2019-09', '07', '06'),
  nullable: fc.constantFrom('type list', 'anyOf', 'oneOf', 'keyword'),
  either: fc.constant('anyOf'),
  booleanBounds: fc.boolean(),
  unknown: fc.boolean(),
});

const drafts: { readonly [draft in Dialect['draft']]: string | undefined } = {
  none: undefined,
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '07': 'http://json-schema.org/draft-07/schema#',
  '06': 'http://json-schema.org/draft-06/schema#',
};

export function toJsonSchema(root: ObjectNode, how: Dialect): JsonObject {
  const shared: JsonObject[] = [];
  const definitions = how.draft === '2020-12' || how.draft === '2019-09' ? '$defs' : 'definitions';
  const write = (of: Node): JsonObject => {
    const schema = writeNode(of);
    return how.unknown
      ? { ...schema, title: 'A title', 'x-order': 1, example: null, deprecated: false }
      : schema;
  };
  const writeNode = (of: Node): JsonObject => {
    switch (of.kind) {
      case 'string':
      case 'boolean':
      case 'null': {
        const { kind, ...rest } = of;
        return { type: kind, ...rest };
      }
      case 'number':
      case 'integer': {
        const { kind, ...bounds } = of;
        const old = how.booleanBounds && of.minimum !== undefined;
        return { type: kind, ...bounds, ...(old && { exclusiveMinimum: false }) };
      }
      case 'enum':
        return { enum: of.values };
      case 'list':
        return {
          type: 'array',
          items: write(of.item),
          ...(of.maxItems !== undefined && { maxItems: of.maxItems }),
        };
      case 'either':
        return { anyOf: of.options.map((option) => write(option)) };
      case 'nullable': {
        const inner = write(of.inner);
        if (how.nullable === 'keyword') return { ...inner, nullable: true };
        const { type } = inner;
        if (how.nullable === 'type list' && typeof type === 'string' && type !== 'null') {
          return { ...inner, type: [type, 'null'] };
        }
        return { anyOf: [inner, { type: 'null' }] };
      }
      case 'shared': {
        const name = `shared${shared.push(write(of.inner))}`;
        return { $ref: `#/${definitions}/${name}` };
      }
      case 'self':
        return { type: 'array', items: { $ref: '#' } };
      case 'object':
        return {
          type: 'object',
          properties: Object.fromEntries(of.fields.map(({ name, node: f }) => [name, write(f)])),
          required: of.fields.filter(({ required }) => required).map(({ name }) => name),
          ...(of.open !== undefined && { additionalProperties: of.open }),
        };
    }
  };
  const written = write(root);
  const $schema = drafts[how.draft];
  return {
    ...($schema !== undefined && { $schema }),
    ...written,
    ...(shared.length > 0 && {
      [definitions]: Object.fromEntries(shared.map((each, index) => [`shared${index + 1}`, each])),
    }),
  };
}

/** The same in zod; formats aside, which it knows more strictly. */
export function toZod(root: ObjectNode): z.ZodType {
  const whole: z.ZodType = toZodPart(root, () => whole);
  return whole;
}

function toZodPart(of: Node, whole: () => z.ZodType): z.ZodType {
  switch (of.kind) {
    case 'string':
      return z.string().min(of.minLength ?? 0);
    case 'number':
      return z
        .number()
        .min(of.minimum ?? -1e300)
        .max(of.maximum ?? 1e300);
    case 'integer':
      return z
        .int()
        .min(of.minimum ?? -1e9)
        .max(of.maximum ?? 1e9);
    case 'boolean':
      return z.boolean();
    case 'null':
      return z.null();
    case 'enum':
      return z.union(
        of.values.map((value) => z.literal(value as string | number | boolean | null)),
      );
    case 'list':
      return z.array(toZodPart(of.item, whole)).max(of.maxItems ?? 1_000);
    case 'either':
      return z.union(of.options.map((option) => toZodPart(option, whole)));
    case 'nullable':
      return toZodPart(of.inner, whole).nullable();
    case 'shared':
      return toZodPart(of.inner, whole);
    case 'self':
      return z.array(z.lazy(whole));
    case 'object': {
      const shape = Object.fromEntries(
        of.fields.map(({ name, required, node: f }) => [
          name,
          required ? toZodPart(f, whole) : toZodPart(f, whole).optional(),
        ]),
      );
      return of.open === false ? z.strictObject(shape) : z.looseObject(shape);
    }
  }
}

/** Arguments that the schema allows. */
export function validObject(root: ObjectNode): fc.Arbitrary<JsonObject> {
  return validFields(root, root, false);
}

function validValue(of: Node, root: ObjectNode, deep: boolean): fc.Arbitrary<JsonValue> {
  switch (of.kind) {
    case 'string':
      return anyText.map((text) =>
        text.length < 2 * (of.minLength ?? 0) ? `${text}long enough` : text,
      );
    case 'number':
      return fc
        .double({ min: of.minimum ?? -1e6, max: of.maximum ?? 1e6, noNaN: true })
        .map((number) => number + 0);
    case 'integer':
      return fc.integer({ min: of.minimum ?? -1e6, max: of.maximum ?? 1e6 });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'enum':
      return fc.constantFrom(...of.values);
    case 'list':
      return fc.array(validValue(of.item, root, deep), {
        maxLength: Math.min(3, of.maxItems ?? 3),
      });
    case 'either':
      return fc.oneof(...of.options.map((option) => validValue(option, root, deep)));
    case 'nullable':
      return fc.oneof(fc.constant(null), validValue(of.inner, root, deep));
    case 'shared':
      return validValue(of.inner, root, deep);
    case 'object':
      return validFields(of, root, deep);
    case 'self':
      return deep ? fc.constant([]) : fc.array(validFields(root, root, true), { maxLength: 2 });
  }
}

function validFields(of: ObjectNode, root: ObjectNode, deep: boolean): fc.Arbitrary<JsonObject> {
  const known = of.fields.map(({ name, required, node: f }) =>
    (required ? validValue(f, root, deep) : optional(validValue(f, root, deep))).map(
      (value) => [name, value] as const,
    ),
  );
  return fc
    .tuple(...known)
    .map((entries) => Object.fromEntries(entries.filter(([, value]) => value !== undefined)));
}

/** Whether null stands for a value of its own here. */
export function takesNull(of: Node): boolean {
  switch (of.kind) {
    case 'null':
    case 'nullable':
      return true;
    case 'enum':
      return of.values.includes(null);
    case 'either':
      return of.options.some((option) => takesNull(option));
    case 'shared':
      return takesNull(of.inner);
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
    case 'list':
    case 'self':
    case 'object':
      return false;
  }
}

/** What a number or boolean may be written as by mistake, where the schema wants nothing else there. */
export function carelessly(of: ObjectNode, args: JsonObject, root: ObjectNode = of): JsonObject {
  const entries = Object.entries(args).map(([name, value]) => {
    const field = of.fields.find((known) => known.name === name);
    if (field === undefined || value === undefined) return [name, value];
    return [name, carelessValue(field.node, value, root)];
  });
  // Absent optional fields that models fill with null.
  const absent = of.fields.filter(
    ({ name, required, node: f }) => !required && !Object.hasOwn(args, name) && !takesNull(f),
  );
  return Object.fromEntries([...entries, ...absent.map(({ name }) => [name, null])]);
}

function carelessValue(of: Node, value: JsonValue, root: ObjectNode): JsonValue {
  if (of.kind === 'number' || of.kind === 'integer' || of.kind === 'boolean') {
    return JSON.stringify(value);
  }
  if (of.kind === 'shared') return carelessValue(of.inner, value, root);
  if (of.kind === 'list') {
    return (value as readonly JsonValue[]).map((item) => carelessValue(of.item, item, root));
  }
  if (of.kind === 'self') {
    return (value as readonly JsonObject[]).map((item) => carelessly(root, item, root));
  }
  return of.kind === 'object' ? carelessly(of, value as JsonObject, root) : value;
}
