// The config of the benchmark's Holdfast workers: the defaults, with the scripted model as the provider.

import { createBuiltInTools } from '../src/activities/tools/index.js';
import type { WorkerConfig } from '../src/activities/definitions.js';
import { resolveConfig } from '../src/config/index.js';
import { lookUpTool } from './lookup-tool.js';

export const systemPrompt = 'You are an agent whose speed is measured.';

export function benchWorkerConfig({
  baseURL,
  workspace,
}: {
  readonly baseURL: string;
  readonly workspace: string;
}): WorkerConfig {
  return resolveConfig(
    {
      models: { default: { model: 'scripted', baseURL } },
      agents: { default: { systemPrompt } },
      tools: [lookUpTool],
      workspaces: { default: { root: workspace } },
    },
    { environment: {}, builtInTools: createBuiltInTools(), directory: workspace },
  );
}
