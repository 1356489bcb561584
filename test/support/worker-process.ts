// A worker with the real activities as a process of its own, to be killed. Its one argument is
// WorkerProcessOptions as JSON; it writes `ready` when it polls, and ends in good order on SIGTERM.
//
// Gates (worker-process-gates.ts) stand before and after each built-in tool, in the hooks of the agent
// `hooked`, and before an agent is resolved.

import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import type { ToolDefinition, WorkerConfig } from '../../src/activities/definitions.js';
import { createBuiltInTools } from '../../src/activities/tools/index.js';
import { resolveConfig } from '../../src/config/index.js';
import type { AgentConfig } from '../../src/config/index.js';
import { createAgentWorker } from '../../src/worker/create-worker.js';
import { passGate, passGateSync } from './worker-process-gates.js';
import type { WorkerProcessOptions } from './worker-process-world.js';

const options = JSON.parse(process.argv[2] ?? '') as WorkerProcessOptions;
const { address, taskQueue, bundlePath, baseURL, workspace, gates } = options;

const tools = ['bash', 'read', 'write', 'edit', 'picture'];
const systemPrompt = 'You are a test.';

const agents: { readonly [name: string]: AgentConfig } = {
  default: { systemPrompt, tools },
  asking: { systemPrompt, tools, approval: { bash: 'ask' } },
  hooked: {
    systemPrompt,
    tools,
    hooks: {
      beforeToolCall: ({ signal }) => passGate(gates, 'beforeToolCall', signal),
      async afterToolCall({ result, signal }) {
        await passGate(gates, 'afterToolCall', signal);
        return { content: [{ type: 'text', text: 'seen by the hook' }, ...result.content] };
      },
      prepareNextTurn: ({ signal }) => passGate(gates, 'prepareNextTurn', signal),
      async shouldStopAfterTurn({ signal }) {
        await passGate(gates, 'shouldStopAfterTurn', signal);
        return false;
      },
    },
  },
};

/** An image of as many bytes of base64 as asked for. */
const picture: ToolDefinition = {
  name: 'picture',
  description: 'Draws a picture.',
  parameters: { type: 'object', properties: { bytes: { type: 'integer' } }, required: ['bytes'] },
  effects: 'read-only',
  execute: ({ bytes }) => ({
    content: [{ type: 'image', data: 'A'.repeat(Number(bytes)), mimeType: 'image/png' }],
  }),
};

const gated = (tool: ToolDefinition): ToolDefinition => ({
  ...tool,
  async execute(args, context) {
    await passGate(gates, `before-${tool.name}`, context.signal);
    const output = await tool.execute(args, context);
    await passGate(gates, `after-${tool.name}`, context.signal);
    return output;
  },
});

/** Looking an agent up takes no time by itself; here it takes as long as its gate is closed. */
function heldAtItsAgents(config: WorkerConfig): WorkerConfig {
  const { agents: resolved } = config;
  return Object.defineProperty({ ...config }, 'agents', {
    get() {
      passGateSync(gates, 'resolve');
      return resolved;
    },
  });
}

Runtime.install({ logger: new DefaultLogger('ERROR', () => {}), shutdownSignals: [] });
const environment = { ...process.env };
const config = resolveConfig(
  {
    models: { default: { model: 'scripted', baseURL } },
    agents,
    tools: [picture],
    workspaces: { default: { root: workspace } },
    ...options.config,
  },
  { environment, builtInTools: createBuiltInTools().map(gated), directory: workspace },
);
const connection = await NativeConnection.connect({ address });
const worker = await createAgentWorker({
  config: heldAtItsAgents(config),
  connection,
  taskQueue,
  bundlePath,
  environment,
});
const ended = worker.run();
process.once('SIGTERM', () => worker.shutdown());
process.stdout.write('ready\n');
await ended;
await connection.close();
process.exit(0);
