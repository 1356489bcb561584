// Compiles tools' JSON schemas, of whatever draft. Schemas come from users and MCP servers: a broken one
// is a text, never a crash.

import { Ajv } from 'ajv';
import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../protocol/json.js';

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

// Unknown keywords and formats are let pass, patterns need not be Unicode ones, ids may repeat.
const options: Options = {
  strict: false,
  allErrors: true,
  verbose: true,
  validateFormats: false,
  unicodeRegExp: false,
  addUsedSchema: false,
  logger: false,
};

type Compiler = (schema: JsonObject) => ValidateFunction;

const latest: Compiler = (schema) => new Ajv2020(options).compile(schema);
const draft2019: Compiler = (schema) => new Ajv2019(options).compile(schema);
const draft7: Compiler = (schema) => new Ajv(options).compile(schema);

/** Older drafts are read as draft 7, which differs little. */
function compile(schema: JsonObject): CompiledSchema {
  const { $schema, ...rest } = schema;
  const named = typeof $schema === 'string' ? $schema : '';
  let problem = '';
  for (const [compiler, subject] of candidates(named, schema, rest)) {
    try {
      const check = compiler(subject);
      if (schema['$async'] === true) throw new Error('schemas with $async are not supported');
      return { kind: 'usable', validate: (value) => (check(value) ? [] : (check.errors ?? [])) };
    } catch (error) {
      problem ||= (error as Error).message;
    }
  }
  return { kind: 'broken', problem };
}

function candidates(
  named: string,
  schema: JsonObject,
  withoutDraft: JsonObject,
): readonly (readonly [Compiler, JsonObject])[] {
  if (named.includes('2020-12')) return [[latest, schema]];
  if (named.includes('2019-09')) return [[draft2019, schema]];
  if (/draft-0\d/.test(named)) return [[draft7, withoutDraft]];
  // Unnamed: the newest first, then the one whose tuples differ.
  return [
    [latest, withoutDraft],
    [draft7, withoutDraft],
  ];
}
