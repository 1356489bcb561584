// The activity that looks an agent up in the worker's config at the start of an agent run.
//
// Input chooses by name among what the definition offers: it narrows and never widens. Whatever it names
// that is not on offer is a final InvalidInput failure that names the field and says what there is.

import { ApplicationFailure } from '@temporalio/common';
import type {
  AgentActivities,
  ResolveAgentInput,
  ResolveAgentResult,
} from '../protocol/activities.js';
import { hookNames, thinkingLevels } from '../protocol/agent-definition.js';
import type { ResolvedAgent, ToolSpec } from '../protocol/agent-definition.js';
import { FailureType } from '../protocol/failure-types.js';
import { workspaceWaits } from '../protocol/limits.js';
import { defaultWorkspaceName } from '../protocol/session.js';
import { workspaceNameProblem } from '../protocol/workspace.js';
import type { AgentDefinition, ToolDefinition, WorkerConfig } from './definitions.js';
import { digestOf } from './digest.js';

/** Milliseconds a tool may run that names no time-out of its own. */
const defaultToolTimeoutMs = 10 * 60_000;

export function createResolveAgent(config: WorkerConfig): AgentActivities['resolveAgent'] {
  return async (input) => resolveAgent(config, input);
}

function resolveAgent(config: WorkerConfig, input: ResolveAgentInput): ResolveAgentResult {
  const definition = offered('agent', config.agents, input.agent, 'this worker has');
  assertWorkspace(config, input.workspace);
  assertThinkingLevel(input.thinkingLevel);
  assertNoMcpServers(input.mcpServers);
  if (input.replacesSystemPrompt && !definition.allowSystemPrompt) {
    throw invalidInput(
      'systemPrompt',
      `agent ${quoted(definition.name)} does not let it be replaced`,
    );
  }
  const agent: ResolvedAgent = {
    name: definition.name,
    ...systemPromptOf(definition, input),
    model: chosenModel(definition, input.model),
    models: modelsOf(config, definition),
    ...thinkingLevelOf(definition, input),
    tools: chosenTools(definition, input.tools).map((name) => toToolSpec(config, definition, name)),
    hooks: hookNames.filter((name) => definition.hooks[name] !== undefined),
    ...workspaceWaitOf(config, input.workspace),
  };
  return digestOf(agent) === input.known ? { kind: 'unchanged' } : { kind: 'resolved', agent };
}

/**
 * A named workspace need not be in this worker's config: other workers have the directory. Whether any does
 * shows when a call goes there.
 */
function assertWorkspace(config: WorkerConfig, name: string): void {
  if (name === defaultWorkspaceName) {
    offered('workspace', config.workspaces, name, 'this worker has');
    return;
  }
  const problem = workspaceNameProblem(name);
  if (problem !== undefined) throw invalidInput('workspace', `${quoted(name)} ${problem}`);
}

/** Left out where it is the default, so that what was recorded before there was a choice is still the same. */
function workspaceWaitOf({ workspaceWaitMs }: WorkerConfig, workspace: string) {
  const isUsual = workspaceWaitMs === workspaceWaits.waitMs;
  return workspace === defaultWorkspaceName || isUsual ? {} : { workspaceWaitMs };
}

function systemPromptOf(definition: AgentDefinition, input: ResolveAgentInput) {
  if (input.replacesSystemPrompt || definition.systemPrompt === undefined) return {};
  return { systemPrompt: definition.systemPrompt };
}

function thinkingLevelOf(definition: AgentDefinition, input: ResolveAgentInput) {
  const thinkingLevel = input.thinkingLevel ?? definition.thinkingLevel;
  return thinkingLevel === undefined ? {} : { thinkingLevel };
}

function chosenModel(definition: AgentDefinition, model: string | undefined): string {
  if (model === undefined) return definition.model;
  if (!definition.models.includes(model)) {
    throw notOffered('model', model, `agent ${quoted(definition.name)} offers`, definition.models);
  }
  return model;
}

function modelsOf(config: WorkerConfig, definition: AgentDefinition): ResolvedAgent['models'] {
  return Object.fromEntries(
    definition.models.flatMap((name) => {
      const model = config.models[name];
      if (model === undefined) return [];
      return [[name, { model: model.model, provider: model.provider }]];
    }),
  );
}

/** In the definition's order, so that the same choice in another order is the same agent. */
function chosenTools(
  definition: AgentDefinition,
  tools: readonly string[] | undefined,
): readonly string[] {
  if (tools === undefined) return definition.tools;
  for (const tool of tools) {
    if (!definition.tools.includes(tool)) {
      throw notOffered('tools', tool, `agent ${quoted(definition.name)} offers`, definition.tools);
    }
  }
  return definition.tools.filter((name) => tools.includes(name));
}

function toToolSpec(config: WorkerConfig, definition: AgentDefinition, name: string): ToolSpec {
  const tool: ToolDefinition = offered('tools', config.tools, name, 'this worker has');
  return {
    name: tool.name,
    ...(tool.label === undefined ? {} : { label: tool.label }),
    description: tool.description,
    parameters: tool.parameters,
    executionMode: tool.executionMode ?? 'parallel',
    effects: tool.effects ?? 'non-idempotent',
    timeoutMs: tool.timeoutMs ?? defaultToolTimeoutMs,
    approval: Object.hasOwn(definition.approval, name)
      ? (definition.approval[name] ?? 'allow')
      : 'allow',
  };
}

function assertThinkingLevel(level: string | undefined): void {
  if (level !== undefined && !(thinkingLevels as readonly string[]).includes(level)) {
    throw notOffered('thinkingLevel', level, 'there are', thinkingLevels);
  }
}

function assertNoMcpServers(servers: readonly string[] | undefined): void {
  const [first] = servers ?? [];
  if (first !== undefined) throw notOffered('mcpServers', first, 'this worker has', []);
}

function offered<T>(
  field: string,
  table: { readonly [name: string]: T },
  name: string,
  who: string,
): T {
  const value = Object.hasOwn(table, name) ? table[name] : undefined;
  if (value === undefined) throw notOffered(field, name, who, Object.keys(table));
  return value;
}

function notOffered(
  field: string,
  name: string,
  who: string,
  names: readonly string[],
): ApplicationFailure {
  const list = names.length === 0 ? 'none' : names.join(', ');
  return invalidInput(field, `${quoted(name)} is not offered; ${who} ${cut(list, 1_000)}`);
}

function invalidInput(field: string, problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${field}: ${problem}.`, FailureType.InvalidInput);
}

// Temporal keeps 4 KiB of a failure: a name someone made up must not crowd out what is offered.
function quoted(name: string): string {
  return JSON.stringify(cut(name, 100));
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
