// Problems of a config as sentences: each names the place and says what to do. Values are never repeated,
// as one of them may be a secret that was put into the wrong field.

import type { z } from 'zod';

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** A sentence each. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[], file?: string, cause?: unknown) {
    const where = file === undefined ? 'The config cannot be used' : `${file} cannot be used`;
    const [first = 'unknown problem', ...others] = problems;
    const text =
      others.length === 0
        ? `${where}: ${first}`
        : `${where}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`;
    super(text, cause === undefined ? undefined : { cause });
    this.problems = problems;
  }
}

/** `agents.default.tools[2]` */
export function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else if (/^[\w$-]+$/.test(String(key))) text += text === '' ? String(key) : `.${String(key)}`;
    else text += `[${JSON.stringify(String(key))}]`;
  }
  return text === '' ? 'The config' : text;
}

/** Issues without a message of ours are of the shape; ours say what a value "must be". */
export function toProblem(issue: z.core.$ZodIssue, config: unknown): string {
  const path = pathText(issue.path);
  if (issue.code === 'invalid_key') {
    return `${path} ${issue.issues[0]?.message ?? 'is no usable name'}.`;
  }
  if (!/^(Invalid|Unrecognized) /.test(issue.message)) return `${path} ${issue.message}.`;
  const value = valueAt(config, issue.path);
  if (issue.code === 'invalid_type') {
    const expected = typeName(issue.expected);
    if (value === undefined) return `${path} is missing: add it, it must be ${expected}.`;
    return `${path} must be ${expected}, not ${kindOf(value)}.`;
  }
  if (issue.code === 'invalid_value') {
    return `${path} must be one of ${issue.values.map((allowed) => JSON.stringify(allowed)).join(', ')}.`;
  }
  return `${path} ${issue.message}.`;
}

function valueAt(config: unknown, path: readonly PropertyKey[]): unknown {
  let value = config;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as { readonly [name: PropertyKey]: unknown })[key];
  }
  return value;
}

function typeName(expected: string): string {
  if (expected === 'array') return 'a list';
  if (expected === 'boolean') return 'true or false';
  if (expected === 'int') return 'a whole number';
  return ['object', 'record'].includes(expected) ? 'an object' : `a ${expected}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
