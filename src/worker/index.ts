// The door `holdfast/worker`: a worker of one's own, from a config.

export { NativeConnection } from '@temporalio/worker';
export { createBuiltInTools } from '../activities/tools/index.js';
export { ConfigError, loadConfig, resolveConfig } from '../config/index.js';
export type {
  LoadConfigOptions,
  LoadedConfig,
  ResolveConfigOptions,
  ResolvedConfig,
  UserConfig,
} from '../config/index.js';
export type { WorkerConfig } from '../activities/definitions.js';
export type { AgentWorker } from './agent-worker.js';
export { bundleWorkflows } from './bundle.js';
export type { BundleWorkflowsOptions } from './bundle.js';
export { bundleOwnWorkflows } from './own-bundle.js';
export type { BundleOwnWorkflowsOptions } from './own-bundle.js';
export { createAgentWorker } from './create-worker.js';
export type { AgentWorkerOptions } from './create-worker.js';
export { refusingStorage } from './refused-references.js';
