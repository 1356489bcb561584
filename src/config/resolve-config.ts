// From what a person wrote to what a worker uses: checked, with every default filled in.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ToolDefinition, WorkerConfig } from '../activities/definitions.js';
import { ownActivityProblems } from '../activities/own-activities.js';
import { toMilliseconds } from '../protocol/duration.js';
import { workspaceWaits } from '../protocol/limits.js';
import { defaultTaskQueue } from '../protocol/session.js';
import { ConfigError, toProblem } from './config-error.js';
import { literalSecrets } from './literal-secrets.js';
import { resolveAgents } from './resolve-agents.js';
import { resolveModels } from './resolve-models.js';
import { resolveWorkspaces } from './resolve-workspaces.js';
import { configSchema } from './schema.js';
import type { Duration, UserConfig } from './user-config.js';

export type BuiltInTools =
  | readonly ToolDefinition[]
  | ((options: { readonly maxToolTimeoutMs: number }) => readonly ToolDefinition[]);

export interface ResolveConfigOptions {
  readonly environment: { readonly [name: string]: string | undefined };
  /** A function is told what the config says of them. */
  readonly builtInTools: BuiltInTools;
  /** What relative workspace roots start from. */
  readonly directory: string;
  /** The default workspace's root where the config names no workspaces. Default: `directory`. */
  readonly workingDirectory?: string;
  /** Names the config in errors. */
  readonly file?: string;
}

export interface ResolvedConfig extends WorkerConfig {
  readonly taskQueue: string;
}

/** @throws ConfigError with a sentence per problem */
export function resolveConfig(config: UserConfig, options: ResolveConfigOptions): ResolvedConfig {
  assertShape(config, options.file);
  const problems: string[] = [];
  const models = resolveModels(config.models, options.environment, problems);
  const maxToolTimeoutMs = milliseconds(config.maxToolTimeout, '1 hour');
  const { builtInTools } = options;
  const tools = resolveTools(
    config.tools ?? [],
    typeof builtInTools === 'function' ? builtInTools({ maxToolTimeoutMs }) : builtInTools,
    problems,
  );
  const agents = resolveAgents(config.agents, models, tools, problems);
  const workspaces = resolveWorkspaces(config.workspaces, options, problems);
  const workflows = resolveWorkflows(config.workflows, options.directory, problems);
  problems.push(...ownActivityProblems(config.activities ?? {}));
  if (problems.length > 0) throw new ConfigError(problems, options.file);
  return {
    models,
    agents,
    tools,
    workspaces,
    workspaceWaitMs: milliseconds(config.workspaceWait, workspaceWaits.waitMs),
    taskQueue: config.taskQueue ?? defaultTaskQueue,
    maxToolTimeoutMs,
    cacheBytes: config.cacheBytes ?? 256 * 1024 * 1024,
    shutdownGraceMs: milliseconds(config.shutdownGrace, '30 seconds'),
    toolEnvironment: config.toolEnvironment ?? [],
    ...(workflows === undefined ? {} : { workflows }),
    ...(config.activities === undefined ? {} : { activities: config.activities }),
  };
}

function resolveWorkflows(
  path: string | URL | undefined,
  directory: string,
  problems: string[],
): string | undefined {
  if (path === undefined) return undefined;
  const file = path instanceof URL ? fileURLToPath(path) : resolve(directory, path);
  if (!(statSync(file, { throwIfNoEntry: false })?.isFile() ?? false)) {
    problems.push(`workflows: there is no file ${file}; correct the path.`);
  }
  return file;
}

/** Names of the agents a config defines, in its order. */
export function agentNames(config: WorkerConfig): readonly string[] {
  return Object.keys(config.agents);
}

/** Models whose key is in no variable of the environment: their calls will fail. */
export function modelsWithoutKey(
  config: WorkerConfig,
  environment: { readonly [name: string]: string | undefined },
): readonly { readonly model: string; readonly variable: string }[] {
  return Object.values(config.models).flatMap(({ name, apiKeyEnv, headersEnv = {} }) =>
    [...(apiKeyEnv === undefined ? [] : [apiKeyEnv]), ...Object.values(headersEnv)]
      .filter((variable) => (environment[variable] ?? '') === '')
      .map((variable) => ({ model: name, variable })),
  );
}

function assertShape(config: unknown, file: string | undefined): void {
  const secrets = literalSecrets(config);
  if (secrets.length > 0) throw new ConfigError(secrets, file);
  const { error } = configSchema.safeParse(config);
  if (error === undefined) return;
  throw new ConfigError(
    error.issues.map((issue) => toProblem(issue, config)),
    file,
  );
}

function resolveTools(
  own: readonly ToolDefinition[],
  builtIn: readonly ToolDefinition[],
  problems: string[],
): WorkerConfig['tools'] {
  const tools = new Map(builtIn.map((tool) => [tool.name, tool]));
  for (const [index, tool] of own.entries()) {
    if (tools.has(tool.name)) {
      problems.push(
        `tools[${index}].name: there is a tool ${tool.name} already (built-in ones are ${builtIn.map(({ name }) => name).join(', ')}); choose another name.`,
      );
    }
    tools.set(tool.name, tool);
  }
  return Object.fromEntries(tools);
}

export function milliseconds(duration: Duration | undefined, fallback: Duration): number {
  return toMilliseconds(duration ?? fallback);
}
