// Mends what models get wrong without meaning to: numbers and booleans sent as strings, and `null` for an
// optional field. Led by the validator's errors, so that what the schema accepts is never touched.

import type { ErrorObject } from 'ajv';
import type { SchemaValidator } from './schema-validator.js';

const maxRounds = 20;

/** Mends `args` in place, as far as that helps, and answers the errors that remain. */
export function mendArguments(
  args: { [key: string]: unknown },
  validate: SchemaValidator,
): readonly ErrorObject[] {
  const required = new Set<string>();
  for (let round = 0; round < maxRounds; round++) {
    const errors = validate(args);
    if (errors.length === 0) return errors;
    const changed = errors.map((error) => mendOne(args, error, required));
    if (!changed.some(Boolean)) return errors;
  }
  return validate(args);
}

interface Place {
  readonly parent: { [key: string]: unknown } | unknown[];
  readonly key: string;
}

/** `required`: pointers of fields whose omission the schema did not accept; they keep their null. */
function mendOne(
  args: { [key: string]: unknown },
  error: ErrorObject,
  required: Set<string>,
): boolean {
  if (error.keyword === 'required') return putBackNull(args, error, required);
  const place = find(args, error.instancePath);
  if (place === undefined) return false;
  const value = valueAt(place);
  if (value === null) {
    if (Array.isArray(place.parent) || required.has(error.instancePath)) return false;
    delete place.parent[place.key];
    omitted(args).add(error.instancePath);
    return true;
  }
  if (error.keyword !== 'type' || typeof value !== 'string') return false;
  const coerced = coerce(value, typesOf(error));
  if (coerced === undefined) return false;
  setValue(place, coerced);
  return true;
}

const omissions = new WeakMap<object, Set<string>>();

function omitted(args: object): Set<string> {
  const present = omissions.get(args) ?? new Set<string>();
  omissions.set(args, present);
  return present;
}

function putBackNull(
  args: { [key: string]: unknown },
  error: ErrorObject,
  required: Set<string>,
): boolean {
  const name = (error.params as { readonly missingProperty: string }).missingProperty;
  const pointer = `${error.instancePath}/${escapePointer(name)}`;
  if (!omitted(args).has(pointer) || required.has(pointer)) return false;
  const place = find(args, pointer);
  if (place === undefined) return false;
  required.add(pointer);
  setValue(place, null);
  return true;
}

function typesOf(error: ErrorObject): readonly string[] {
  const { type } = error.params as { readonly type: string | readonly string[] };
  return typeof type === 'string' ? type.split(',') : type;
}

function coerce(text: string, types: readonly string[]): number | boolean | undefined {
  const trimmed = text.trim();
  if (types.includes('boolean') && /^(true|false)$/i.test(trimmed)) {
    return trimmed.toLowerCase() === 'true';
  }
  if (!types.includes('number') && !types.includes('integer')) return undefined;
  if (!/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return undefined;
  const number = Number(trimmed);
  if (!Number.isFinite(number)) return undefined;
  return types.includes('number') || Number.isSafeInteger(number) ? number : undefined;
}

function find(args: { [key: string]: unknown }, pointer: string): Place | undefined {
  const keys = pointer.split('/').slice(1).map(unescapePointer);
  const last = keys.pop();
  if (last === undefined) return undefined;
  let parent: unknown = args;
  for (const key of keys) {
    if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key)) {
      return undefined;
    }
    parent = (parent as { readonly [key: string]: unknown })[key];
  }
  if (typeof parent !== 'object' || parent === null) return undefined;
  return { parent: parent as Place['parent'], key: last };
}

function valueAt({ parent, key }: Place): unknown {
  if (!Object.hasOwn(parent, key)) return undefined;
  return (parent as { readonly [key: string]: unknown })[key];
}

/** Also for a key such as `__proto__`, which an assignment would not set. */
function setValue({ parent, key }: Place, value: unknown): void {
  Object.defineProperty(parent, key, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapePointer(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}
