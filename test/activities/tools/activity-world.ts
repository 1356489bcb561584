// A worker's config, its workspace on the disk and the environment of one activity, without a server.

import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCallTool } from '../../../src/activities/call-tool.js';
import type { Conversation, ConversationSource } from '../../../src/activities/conversation.js';
import type {
  AgentDefinition,
  ToolDefinition,
  WorkerConfig,
} from '../../../src/activities/definitions.js';
import { createRedactor } from '../../../src/activities/secrets.js';
import { createBuiltInTools } from '../../../src/activities/tools/index.js';
import type { CallToolInput, ToolResult } from '../../../src/protocol/activities.js';
import type { JsonValue } from '../../../src/protocol/json.js';
import type { ToolProgress } from '../../../src/protocol/live-views.js';
import type { Message, Untimed } from '../../../src/protocol/messages.js';

export interface ActivityWorldOptions {
  /** Beside the built-in tools. */
  readonly tools?: readonly ToolDefinition[];
  readonly agent?: Partial<AgentDefinition>;
  readonly config?: Partial<WorkerConfig>;
  /** What the workflow answers for digests. */
  readonly values?: { readonly [digest: string]: JsonValue };
  readonly transcript?: readonly Message[];
  readonly environment?: NodeJS.ProcessEnv;
  /** Temporal's attempt. Default 1. */
  readonly attempt?: number;
}

export async function createActivityWorld(options: ActivityWorldOptions = {}) {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-activity-'));
  const tools = [...createBuiltInTools(), ...(options.tools ?? [])];
  const config: WorkerConfig = {
    models: {},
    agents: {
      default: {
        name: 'default',
        allowSystemPrompt: true,
        model: 'small',
        models: ['small', 'large'],
        tools: tools.map((tool) => tool.name),
        approval: {},
        hooks: {},
        ...options.agent,
      },
    },
    tools: Object.fromEntries(tools.map((tool) => [tool.name, tool])),
    workspaces: { default: { name: 'default', root } },
    workspaceWaitMs: 600_000,
    maxToolTimeoutMs: 60_000,
    cacheBytes: 1_000_000,
    shutdownGraceMs: 1_000,
    toolEnvironment: [],
    ...options.config,
  };
  const remembered: { messages: Untimed[]; values: JsonValue[] } = { messages: [], values: [] };
  const source: ConversationSource = {
    load: async (): Promise<Conversation> => {
      const transcript = options.transcript ?? [];
      return { systemPrompt: 'Be brief.', tools: [], transcript, visible: transcript.slice(-1) };
    },
    value: (digest, signal) =>
      new Promise((resolve, reject) => {
        const value = options.values?.[digest];
        if (value !== undefined) resolve(value);
        else signal.addEventListener('abort', () => reject(new Error('The query was aborted.')));
      }),
    remember: (message) => remembered.messages.push(message),
    rememberValue: (value) => remembered.values.push(value),
  };
  const activity = new MockActivityEnvironment(
    { attempt: options.attempt ?? 1 },
    { logger: new DefaultLogger('ERROR') },
  );
  const heartbeats: ToolProgress[] = [];
  activity.on('heartbeat', (details: ToolProgress) => heartbeats.push(details));
  const redactor = createRedactor();
  const dependencies = {
    config,
    redactor,
    conversation: () => source,
    environment: options.environment ?? process.env,
  };
  return {
    root,
    redactor,
    dependencies,
    activity,
    heartbeats,
    remembered,
    callTool: (toolName: string, change: Partial<CallToolInput> = {}): Promise<ToolResult> =>
      activity.run(createCallTool(dependencies), callInput(toolName, change)),
    abort: () => activity.cancel(),
    shutDown: () =>
      activity.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true })),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

function callInput(toolName: string, change: Partial<CallToolInput>): CallToolInput {
  return {
    agent: 'default',
    workspace: 'default',
    toolCallId: 'call-1',
    toolName,
    arguments: { value: {} },
    message: 1,
    maxResultBytes: 50_000,
    maxImageBytes: 100_000,
    retryable: false,
    ...change,
  };
}
