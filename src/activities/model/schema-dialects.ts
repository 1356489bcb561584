// Schemas in the words of OpenAPI 3.0 and of drafts before 6, rewritten in today's. Generators still write
// them, and one such word would otherwise make a whole tool unusable.

import { isJsonObject } from '../../protocol/json.js';
import type { JsonObject, JsonValue } from '../../protocol/json.js';

type Schema = { [keyword: string]: JsonValue | undefined };

/** Keywords whose value is a schema, a list of them, or both, as `items` of older drafts. */
const schemaKeywords = [
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
];

/** Keywords whose value has a schema under each name; the names are no keywords. */
const mapKeywords = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'];

/**
 * Takes `nullable` where there is no `type` (with one the validator knows it), boolean `exclusiveMinimum`
 * and `exclusiveMaximum`, a boolean `required`, and patterns that are none of JavaScript's: what these would
 * check is let pass.
 */
export function toCurrentDialect(schema: JsonObject): JsonObject {
  const current: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (schemaKeywords.includes(keyword)) current[keyword] = rewriteAll(value);
    else if (mapKeywords.includes(keyword)) current[keyword] = rewriteMap(keyword, value);
    else setField(current, keyword, value);
  }
  rewriteBound(current, 'minimum', 'exclusiveMinimum');
  rewriteBound(current, 'maximum', 'exclusiveMaximum');
  if (typeof current['required'] === 'boolean') delete current['required'];
  if (!isPattern(current['pattern'])) delete current['pattern'];
  return withoutNullable(current);
}

function rewriteAll(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item: JsonValue) => rewriteAll(item) ?? null);
  return isJsonObject(value) ? toCurrentDialect(value) : value;
}

function rewriteMap(keyword: string, value: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(
    ([name]) => keyword !== 'patternProperties' || isPattern(name),
  );
  return Object.fromEntries(entries.map(([name, schema]) => [name, rewriteAll(schema)]));
}

/** `exclusiveMinimum: true` says that `minimum` itself is out. */
function rewriteBound(schema: Schema, bound: string, exclusive: string): void {
  const flag = schema[exclusive];
  if (typeof flag !== 'boolean') return;
  delete schema[exclusive];
  const limit = schema[bound];
  if (!flag || typeof limit !== 'number') return;
  schema[exclusive] = limit;
  delete schema[bound];
}

function withoutNullable(schema: Schema): JsonObject {
  const { nullable, ...rest } = schema;
  if (nullable === undefined || rest['type'] !== undefined) return schema;
  if (nullable !== true) return rest;
  // Definitions stay where references look for them.
  const { $defs, definitions, ...checked } = rest;
  return {
    anyOf: [{ type: 'null' }, checked],
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

function isPattern(pattern: JsonValue | undefined): boolean {
  if (typeof pattern !== 'string') return pattern === undefined;
  try {
    return new RegExp(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}

/** Also for a keyword such as `__proto__`, which an assignment would not set. */
function setField(schema: Schema, keyword: string, value: JsonValue | undefined): void {
  Object.defineProperty(schema, keyword, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}
