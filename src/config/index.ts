// The config of workers: what people write it with, and how it is loaded.

export { ConfigError } from './config-error.js';
export { defineTool } from './define-tool.js';
export type { ToolOptions, ZodSchema } from './define-tool.js';
export { configFileNames, loadConfig } from './load-config.js';
export type { LoadConfigOptions, LoadedConfig } from './load-config.js';
export { agentNames, modelsWithoutKey, resolveConfig } from './resolve-config.js';
export type { ResolveConfigOptions, ResolvedConfig } from './resolve-config.js';
export { defineConfig } from './user-config.js';
export type {
  AgentConfig,
  Duration,
  ModelConfig,
  UserConfig,
  WorkspaceConfig,
} from './user-config.js';
