// The first three steps of preparing a tool call: find the tool by its exact name, let the tool mend the
// arguments, validate them against the schema. Each works on a copy; what goes wrong is a text for the model.

import type { ErrorObject } from 'ajv';
import type { PreparedCall } from '../protocol/activities.js';
import type { ToolSpec } from '../protocol/agent-definition.js';
import { cutUtf8, isJsonObject, toCanonicalJson } from '../protocol/json.js';
import type { JsonObject } from '../protocol/json.js';
import type { ToolCall } from '../protocol/messages.js';
import type { ToolDefinition } from './definitions.js';
import { mendArguments } from './model/argument-mending.js';
import { compileSchema } from './model/schema-validator.js';

const maxShownBytes = 2_000;
const maxShownErrors = 10;

/**
 * `specs` are the tools the model was offered, `tools` the worker's own by name. Never throws. `arguments`
 * is there only where they differ from the model's.
 */
export function prepareCall(
  call: ToolCall,
  specs: readonly ToolSpec[],
  tools: { readonly [name: string]: ToolDefinition },
): PreparedCall {
  const spec = specs.find(({ name }) => name === call.name);
  if (spec === undefined) return settled(unknownTool(call.name, specs));
  if (call.argumentsError !== undefined) {
    const { message, raw } = call.argumentsError;
    return settled(
      `The arguments of "${call.name}" could not be read: ${message}. Nothing was executed. Received: ${shown(raw)}`,
    );
  }
  const tool = Object.hasOwn(tools, call.name) ? tools[call.name] : undefined;
  const mended = askTool(call, tool);
  if (mended.kind === 'settled') return mended;
  const args = structuredClone(mended.arguments) as { [key: string]: unknown };
  const schema = compileSchema(spec.parameters);
  if (schema.kind === 'broken') return settled(brokenSchema(call.name, schema.problem));
  let errors: readonly ErrorObject[];
  try {
    errors = mendArguments(args, schema.validate);
  } catch (error) {
    // References that go round in circles show only here.
    return settled(brokenSchema(call.name, error instanceof Error ? error.message : String(error)));
  }
  if (errors.length > 0) return settled(invalid(call.name, errors, mended.arguments));
  const same = toCanonicalJson(args) === toCanonicalJson(call.arguments);
  return same ? { kind: 'ready' } : { kind: 'ready', arguments: args as JsonObject };
}

type Mended =
  | { readonly kind: 'mended'; readonly arguments: JsonObject }
  | Extract<PreparedCall, { readonly kind: 'settled' }>;

/** What the tool's `prepareArguments` makes of a copy, as plain JSON. */
function askTool(call: ToolCall, tool: ToolDefinition | undefined): Mended {
  if (tool?.prepareArguments === undefined) return { kind: 'mended', arguments: call.arguments };
  const failed = (reason: string) =>
    settled(
      `The arguments of "${call.name}" could not be prepared: ${reason}. Nothing was executed. Received: ${shown(JSON.stringify(call.arguments))}`,
    );
  try {
    const answer: unknown = tool.prepareArguments(structuredClone(call.arguments));
    if (!isJsonObject(answer) || answer instanceof Promise) {
      return failed('prepareArguments answered no object');
    }
    return { kind: 'mended', arguments: JSON.parse(JSON.stringify(answer)) as JsonObject };
  } catch (error) {
    return failed(shown(error instanceof Error ? error.message : String(error)));
  }
}

function settled(text: string): Extract<PreparedCall, { readonly kind: 'settled' }> {
  return { kind: 'settled', text };
}

function unknownTool(name: string, specs: readonly ToolSpec[]): string {
  const known = specs.map((spec) => spec.name).join(', ');
  const list = specs.length === 0 ? 'There are no tools.' : `Known tools: ${shown(known)}.`;
  return `There is no tool named "${shown(name)}". ${list}`;
}

function brokenSchema(name: string, problem: string): string {
  return `The tool "${name}" cannot be called: its parameter schema is broken (${shown(problem)}). Nothing was executed.`;
}

function invalid(name: string, errors: readonly ErrorObject[], received: JsonObject): string {
  const lines = [...new Set(errors.map((error) => describe(error)))];
  const more = lines.length > maxShownErrors ? [`… and ${lines.length - maxShownErrors} more`] : [];
  return [
    `Invalid arguments for "${name}"; nothing was executed:`,
    ...[...lines.slice(0, maxShownErrors), ...more].map((line) => `- ${line}`),
    `Received: ${shown(JSON.stringify(received))}`,
  ].join('\n');
}

function describe({ instancePath, message = 'is invalid', params }: ErrorObject): string {
  const { additionalProperty, allowedValues } = params as {
    readonly additionalProperty?: string;
    readonly allowedValues?: readonly unknown[];
  };
  const what = additionalProperty ?? (allowedValues && JSON.stringify(allowedValues));
  const detail = what === undefined ? '' : ` (${shown(what)})`;
  return shown(`${instancePath === '' ? 'the arguments' : instancePath} ${message}${detail}`);
}

function shown(text: string): string {
  const cut = cutUtf8(text, maxShownBytes);
  return cut === text ? text : `${cut}… (${text.length} characters)`;
}
