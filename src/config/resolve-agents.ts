// Agents of a config: every name they use must be one the config has.

import type {
  AgentDefinition,
  ModelDefinition,
  ToolDefinition,
} from '../activities/definitions.js';
import { defaultAgentName } from '../protocol/session.js';
import type { AgentConfig } from './user-config.js';

type Named<T> = { readonly [name: string]: T };

const defaultSystemPrompt = `You are an agent that works in a directory of files with the tools you are given.
Look before you act: read what is there instead of guessing. Change only what the task asks for, and check the result, for example by running the tests.
When a tool's outcome is said to be unknown, find out what happened before you do it again.
Answer briefly, and say what you did and what you could not do.`;

/** An agent that names no model gets this one. */
const defaultModelName = 'default';

export function resolveAgents(
  agents: Named<AgentConfig> | undefined,
  models: Named<ModelDefinition>,
  tools: Named<ToolDefinition>,
  problems: string[],
): Named<AgentDefinition> {
  const configured =
    agents === undefined || Object.keys(agents).length === 0
      ? { [defaultAgentName]: { systemPrompt: defaultSystemPrompt } }
      : agents;
  return Object.fromEntries(
    Object.entries(configured).map(([name, agent]) => [
      name,
      resolveAgent(name, agent, models, tools, problems),
    ]),
  );
}

function resolveAgent(
  name: string,
  config: AgentConfig,
  models: Named<ModelDefinition>,
  tools: Named<ToolDefinition>,
  problems: string[],
): AgentDefinition {
  const at = `agents.${name}`;
  const offeredModels = config.models ?? Object.keys(models);
  const offeredTools = config.tools ?? Object.keys(tools);
  const model =
    config.model ??
    (offeredModels.includes(defaultModelName) ? defaultModelName : (offeredModels[0] ?? ''));
  problems.push(
    ...unknownNames(`${at}.models`, offeredModels, Object.keys(models), 'models are'),
    ...unknownNames(`${at}.tools`, offeredTools, Object.keys(tools), 'tools are'),
    ...repeatedNames(`${at}.tools`, offeredTools),
    ...unknownNames(`${at}.model`, [model], offeredModels, 'this agent offers'),
    ...unknownNames(
      `${at}.approval`,
      Object.keys(config.approval ?? {}),
      offeredTools,
      'this agent has',
    ),
  );
  const { systemPrompt, thinkingLevel } = config;
  return {
    name,
    ...(systemPrompt === undefined || systemPrompt === '' ? {} : { systemPrompt }),
    allowSystemPrompt: config.allowSystemPrompt ?? true,
    model,
    models: offeredModels,
    ...(thinkingLevel === undefined ? {} : { thinkingLevel }),
    tools: offeredTools,
    approval: config.approval ?? {},
    hooks: config.hooks ?? {},
  };
}

function unknownNames(
  at: string,
  names: readonly string[],
  known: readonly string[],
  whatThereIs: string,
): readonly string[] {
  return names
    .filter((name) => !known.includes(name))
    .map(
      (name) =>
        `${at} names ${JSON.stringify(name)}, which does not exist: ${whatThereIs} ${known.join(', ') || 'none'}; correct the name or define it.`,
    );
}

function repeatedNames(at: string, names: readonly string[]): readonly string[] {
  return names
    .filter((name, index) => names.indexOf(name) !== index)
    .map((name) => `${at} names ${JSON.stringify(name)} twice; remove one.`);
}
