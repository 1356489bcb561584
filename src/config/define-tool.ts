// Tools of the user's own, with parameters as a zod schema or as JSON schema.

import { z } from 'zod';
import type { ToolContext, ToolDefinition, ToolOutput } from '../activities/definitions.js';
import type { ToolEffects, ToolExecutionMode } from '../protocol/agent-definition.js';
import { durationProblem, toMilliseconds } from '../protocol/duration.js';
import { isJsonObject } from '../protocol/json.js';
import type { JsonObject } from '../protocol/json.js';
import type { Duration } from './user-config.js';

export interface ToolOptions<Arguments> {
  /** What the model calls it by: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** What people see. Default: the name. */
  readonly label?: string;
  /** Tells the model what the tool does and when to use it. */
  readonly description: string;
  /** Mends arguments before they are validated, e.g. renames a field; a throw is an error result. */
  readonly prepareArguments?: (args: JsonObject) => JsonObject;
  /** `sequential`: never at the same time as another tool. Default `parallel`. */
  readonly executionMode?: ToolExecutionMode;
  /**
   * What running it twice would do. Default `non-idempotent`: after a lost worker it is not run again,
   * and the model is told that the outcome is unknown.
   */
  readonly effects?: ToolEffects;
  /** Default 10 minutes. */
  readonly timeout?: Duration;
  /** A throw is an error result with its message. */
  readonly execute: (args: Arguments, context: ToolContext) => Promise<ToolOutput> | ToolOutput;
}

/**
 * A schema of zod 4, as far as types go: those of two releases of zod are not assignable to each other, and
 * users have a zod of their own.
 */
export interface ZodSchema {
  readonly _zod: { readonly output: unknown };
}

/**
 * Defines a tool. With a zod schema `execute` gets what the schema makes of the arguments: typed, with
 * defaults filled in and transforms applied.
 */
export function defineTool<Schema extends ZodSchema>(
  options: ToolOptions<Schema['_zod']['output']> & { readonly parameters: Schema },
): ToolDefinition;
export function defineTool(
  options: ToolOptions<JsonObject> & { readonly parameters: JsonObject },
): ToolDefinition;
export function defineTool(
  // The overloads see to it that the arguments' type is that of the parameters.
  options: ToolOptions<never> & { readonly parameters: ZodSchema | JsonObject },
): ToolDefinition {
  const { parameters, timeout, execute, ...rest } = options;
  const name = JSON.stringify(options.name);
  const run = execute as ToolOptions<unknown>['execute'];
  if (isZod3Schema(parameters)) {
    throw new TypeError(
      `Tool ${name}: its parameters are a schema of zod 3; make them with zod 4, or write JSON schema.`,
    );
  }
  return {
    ...rest,
    ...(timeout === undefined ? {} : { timeoutMs: checkedTimeout(timeout, name) }),
    parameters: isZodSchema(parameters) ? toJsonSchema(parameters, name) : parameters,
    execute: isZodSchema(parameters)
      ? async (args, context) => run(await parsed(parameters, args), context)
      : run,
  };
}

function checkedTimeout(timeout: Duration, name: string): number {
  const problem = durationProblem(timeout, `Tool ${name}: timeout`);
  if (problem !== undefined) throw new TypeError(problem);
  return toMilliseconds(timeout);
}

function isZodSchema(parameters: ZodSchema | JsonObject): parameters is ZodSchema {
  return '_zod' in parameters;
}

function isZod3Schema(parameters: ZodSchema | JsonObject): boolean {
  return !isZodSchema(parameters) && '_def' in parameters && 'safeParse' in parameters;
}

function toJsonSchema(schema: ZodSchema, name: string): JsonObject {
  let converted: unknown;
  try {
    converted = z.toJSONSchema(schema as z.ZodType, { io: 'input', target: 'draft-7' });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`Tool ${name}: its parameters have no JSON schema: ${reason}.`, {
      cause: error,
    });
  }
  if (!isJsonObject(converted)) throw new TypeError(`Tool ${name}: parameters must be an object.`);
  const { $schema: _, ...parameters } = converted;
  return parameters;
}

async function parsed(schema: ZodSchema, args: JsonObject): Promise<unknown> {
  const result = await (schema as z.ZodType).safeParseAsync(args);
  if (result.success) return result.data;
  throw new Error(`Invalid arguments:\n${z.prettifyError(result.error)}`);
}
