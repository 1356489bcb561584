// What `createAgent` is given, checked as strictly as a workflow's input: it may well come from one.

import { agentNameRule, isAgentName } from '../protocol/agent-names.js';
import { agentInputFields, objectProblem, parseAgentInput } from '../protocol/agent-input.js';
import type { Check, ParsedAgentInput } from '../protocol/agent-input.js';
import { isJsonObject } from '../protocol/json.js';
import type { JsonObject } from '../protocol/json.js';
import type { AgentInput } from '../protocol/session.js';
import type { Parsed } from '../protocol/shape.js';
import { describe } from '../protocol/text.js';
import { workflowHookNames } from './workflow-hooks.js';
import type { WorkflowHooks } from './workflow-hooks.js';

/** An `AgentInput` but for what begins and ends runs, which the workflow does itself. */
export interface AgentOptions extends Omit<AgentInput, 'prompt' | 'lifetime' | 'idleTimeout'> {
  /** How the agent is addressed in this workflow. Default: the name of its definition, `agent`. */
  readonly name?: string;
  /** Functions of the workflow around tool calls and turns. */
  readonly hooks?: WorkflowHooks;
  /** Where Holdfast's activities are served. Default: the workflow's own task queue. */
  readonly taskQueue?: string;
}

export interface ParsedAgentOptions {
  readonly input: ParsedAgentInput;
  readonly name: string;
  readonly hooks: WorkflowHooks;
  readonly taskQueue?: string;
}

const { prompt: _, lifetime: __, idleTimeout: ___, ...sharedFields } = agentInputFields;

const aFunction: Check = (value, at) =>
  typeof value === 'function' ? undefined : `${at}: expected a function, got ${describe(value)}.`;

const hookFields = Object.fromEntries(workflowHookNames.map((name) => [name, aFunction]));

const fields: { readonly [field: string]: Check } = {
  ...sharedFields,
  name: (value, at) =>
    isAgentName(value)
      ? undefined
      : `${at}: expected a name (${agentNameRule}), got ${describe(value)}.`,
  hooks: (value, at) => objectProblem(value, hookFields, at),
  taskQueue: (value, at) =>
    typeof value === 'string' && value !== ''
      ? undefined
      : `${at}: expected the name of a task queue, got ${describe(value)}.`,
};

/** Reads the options, or says in one sentence what is wrong with which field. */
export function parseAgentOptions(options: unknown): Parsed<ParsedAgentOptions> {
  if (!isJsonObject(options)) {
    return { problem: `options: expected an object, got ${describe(options)}.` };
  }
  const problem = objectProblem(options, fields, '');
  if (problem !== undefined) return { problem };
  const { name, hooks, taskQueue, ...rest } = options;
  const parsed = parseAgentInput({ ...rest, lifetime: 'session' } satisfies JsonObject);
  if ('problem' in parsed) return parsed;
  const input = parsed.value;
  const chosen = name ?? input.agent;
  if (!isAgentName(chosen)) {
    return {
      problem: `name: ${describe(chosen)} cannot address an agent (${agentNameRule}); give it a name.`,
    };
  }
  return {
    value: {
      input,
      name: chosen,
      hooks: (hooks ?? {}) as WorkflowHooks,
      ...(taskQueue === undefined ? {} : { taskQueue: taskQueue as string }),
    },
  };
}
