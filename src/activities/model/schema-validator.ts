// Compiles tools' JSON schemas, of whatever draft. Schemas come from users and MCP servers: a broken one
// is a text, never a crash.

import { Ajv } from 'ajv';
import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../protocol/json.js';
import { toCurrentDialect } from './schema-dialects.js';

export type SchemaValidator = (value: unknown) => readonly ErrorObject[];

export type CompiledSchema =
  | { readonly kind: 'usable'; readonly validate: SchemaValidator }
  | { readonly kind: 'broken'; readonly problem: string };

/** Compiled schemas that are kept, by their text. */
const maxKept = 500;
const kept = new Map<string, CompiledSchema>();

export function compileSchema(schema: JsonObject): CompiledSchema {
  const text = JSON.stringify(schema);
  const known = kept.get(text);
  if (known !== undefined) return known;
  const compiled = compile(schema);
  if (kept.size >= maxKept) kept.delete(kept.keys().next().value as string);
  kept.set(text, compiled);
  return compiled;
}

// Unknown keywords and formats are let pass, patterns need not be Unicode ones. What every object inherits is
// no argument: a parameter may be called `constructor`.
const options: Options = {
  strict: false,
  ownProperties: true,
  allErrors: true,
  verbose: true,
  validateFormats: false,
  unicodeRegExp: false,
  logger: false,
};

type Compiler = (schema: JsonObject) => ValidateFunction;

const latest = compilerOf(() => new Ajv2020(options));
const draft2019 = compilerOf(() => new Ajv2019(options));
const draft7 = compilerOf(() => new Ajv(options));

/**
 * Makes one Ajv for many schemas, as making it takes ten times as long as compiling one does. A schema that
 * names its parts gets an Ajv of its own: the names may be those of another schema's.
 */
function compilerOf(create: () => Ajv): Compiler {
  let shared: Ajv | undefined;
  let compiled = 0;
  return (schema) => {
    if (/"\$(id|(dynamic|recursive)?[aA]nchor)"/.test(JSON.stringify(schema))) {
      return create().compile(schema);
    }
    // It holds on to parts of every schema: it is replaced now and then.
    if (compiled % maxKept === 0) shared = create();
    compiled += 1;
    shared ??= create();
    try {
      return shared.compile(schema);
    } finally {
      shared.removeSchema(schema);
    }
  };
}

function compile(schema: JsonObject): CompiledSchema {
  if (schema['$async'] === true) {
    return { kind: 'broken', problem: 'schemas with $async are not supported' };
  }
  let problem = '';
  for (const compileOnce of attempts(schema)) {
    try {
      const check = compileOnce();
      return { kind: 'usable', validate: (value) => (check(value) ? [] : (check.errors ?? [])) };
    } catch (error) {
      problem ||= (error as Error).message;
    }
  }
  return { kind: 'broken', problem };
}

/** The ways to read a schema, one after the other: as it stands, then as it may be meant. */
function* attempts(schema: JsonObject): Generator<() => ValidateFunction> {
  yield* readings(schema);
  yield* readings(toCurrentDialect(schema));
}

/** Older drafts are read as draft 7, which differs little. */
function readings(schema: JsonObject): readonly (() => ValidateFunction)[] {
  const { $schema, ...withoutDraft } = schema;
  const named = typeof $schema === 'string' ? $schema : '';
  if (named.includes('2020-12')) return [() => latest(schema)];
  if (named.includes('2019-09')) return [() => draft2019(schema)];
  const asDraft7 = () => draft7(withoutDraft);
  // Unnamed: the newest first, then the one whose tuples differ.
  return /draft-0\d/.test(named) ? [asDraft7] : [() => latest(withoutDraft), asDraft7];
}
