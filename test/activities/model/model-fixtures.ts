// What tests of the model activity share: definitions, conversations, and an activity run against a
// scripted model over a real socket.

import { MockActivityEnvironment } from '@temporalio/testing';
import type { Info } from '@temporalio/activity';
import { DefaultLogger } from '@temporalio/worker';
import { createCompleteChat } from '../../../src/activities/complete-chat.js';
import type { CompleteChatDependencies } from '../../../src/activities/complete-chat.js';
import type { Conversation, ConversationSource } from '../../../src/activities/conversation.js';
import type {
  AgentHooks,
  ModelDefinition,
  ToolDefinition,
  WorkerConfig,
} from '../../../src/activities/definitions.js';
import { createRedactor } from '../../../src/activities/secrets.js';
import type { CompleteChatInput, CompleteChatResult } from '../../../src/protocol/activities.js';
import type { ThinkingLevel, ToolSpec } from '../../../src/protocol/agent-definition.js';
import type { JsonObject, JsonValue } from '../../../src/protocol/json.js';
import type { LiveView } from '../../../src/protocol/live-views.js';
import { zeroUsage } from '../../../src/protocol/messages.js';
import type {
  AssistantMessage,
  Message,
  ToolCall,
  ToolResultMessage,
  Untimed,
  UserMessage,
} from '../../../src/protocol/messages.js';

const quiet = new DefaultLogger('ERROR', () => {});

export const keyVariable = 'SCRIPTED_API_KEY';
export const keyValue = 'secret-value-of-the-key';

export function modelDefinition(overrides: Partial<ModelDefinition> = {}): ModelDefinition {
  return {
    name: 'default',
    model: 'scripted-1',
    provider: 'scripted',
    baseURL: 'http://127.0.0.1:1/v1',
    apiKeyEnv: keyVariable,
    quirks: {},
    clocks: { firstTokenMs: 10_000, silenceMs: 10_000, callMs: 20_000 },
    ...overrides,
  };
}

export function toolSpec(name: string, parameters: JsonObject = { type: 'object' }): ToolSpec {
  return {
    name,
    description: `The tool ${name}.`,
    parameters,
    executionMode: 'parallel',
    effects: 'read-only',
    timeoutMs: 1000,
    approval: 'allow',
  };
}

export const weatherTool = toolSpec('getWeather', {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city'],
});

export function user(content: UserMessage['content']): UserMessage {
  return { role: 'user', content, timestamp: 1 };
}

export function assistant(
  content: AssistantMessage['content'],
  overrides: Partial<AssistantMessage> = {},
): AssistantMessage {
  return {
    role: 'assistant',
    content,
    provider: 'scripted',
    model: 'scripted-1',
    usage: zeroUsage,
    stopReason: content.some(({ type }) => type === 'toolCall') ? 'toolUse' : 'stop',
    timestamp: 1,
    ...overrides,
  };
}

export function call(
  id: string,
  name = 'getWeather',
  args: JsonObject = { city: 'Bangkok' },
): ToolCall {
  return { type: 'toolCall', id, name, arguments: args };
}

export function result(
  toolCallId: string,
  text: string,
  toolName = 'getWeather',
): ToolResultMessage {
  return {
    role: 'toolResult',
    toolCallId,
    toolName,
    content: [{ type: 'text', text }],
    isError: false,
    timestamp: 1,
  };
}

export interface FakeSource extends ConversationSource {
  readonly remembered: Untimed[];
  readonly rememberedValues: JsonValue[];
}

export function fakeSource(conversation: Conversation | (() => Promise<Conversation>)): FakeSource {
  const remembered: Untimed[] = [];
  const rememberedValues: JsonValue[] = [];
  return {
    remembered,
    rememberedValues,
    load: () =>
      typeof conversation === 'function' ? conversation() : Promise.resolve(conversation),
    value: () => Promise.reject(new Error('not asked for')),
    remember: (message) => remembered.push(message),
    rememberValue: (value) => rememberedValues.push(value),
  };
}

export interface CallSetUp {
  readonly model?: Partial<ModelDefinition>;
  readonly hooks?: AgentHooks;
  readonly tools?: readonly ToolSpec[];
  readonly toolDefinitions?: { readonly [name: string]: ToolDefinition };
  readonly systemPrompt?: string;
  readonly transcript?: readonly Message[];
  readonly visible?: readonly Message[];
  readonly thinkingLevel?: ThinkingLevel;
  readonly environment?: { readonly [name: string]: string };
  readonly info?: Partial<Info>;
  readonly source?: FakeSource;
}

export const completeChatInput: CompleteChatInput = {
  agent: 'default',
  model: 'default',
  conversation: {
    transcript: { length: 1, digest: 'd', base: 'b', added: [] },
    tools: 't',
  },
  turn: 3,
};

export function setUpCall(baseURL: string, setUp: CallSetUp = {}) {
  const transcript = setUp.transcript ?? [user('What is the weather?')];
  const source =
    setUp.source ??
    fakeSource({
      systemPrompt: setUp.systemPrompt,
      tools: setUp.tools ?? [],
      transcript,
      visible: setUp.visible ?? transcript,
    });
  const config = {
    models: { default: modelDefinition({ baseURL, ...setUp.model }) },
    agents: {
      default: {
        name: 'default',
        allowSystemPrompt: true,
        model: 'default',
        models: ['default'],
        tools: [],
        approval: {},
        hooks: setUp.hooks ?? {},
      },
    },
    tools: setUp.toolDefinitions ?? {},
    workspaces: {},
    workspaceWaitMs: 600_000,
    maxToolTimeoutMs: 1000,
    cacheBytes: 1000,
    shutdownGraceMs: 1000,
    toolEnvironment: [],
  } satisfies WorkerConfig;
  const environmentValues = setUp.environment ?? { [keyVariable]: keyValue };
  const dependencies: CompleteChatDependencies = {
    config,
    conversation: () => source,
    environment: (name) => environmentValues[name],
    redactor: createRedactor(),
  };
  const activity = createCompleteChat(dependencies);
  const environment = new MockActivityEnvironment(
    { startToCloseTimeoutMs: 1_200_000, ...setUp.info },
    { logger: quiet },
  );
  const heartbeats: LiveView[] = [];
  environment.on('heartbeat', (details: LiveView) => {
    heartbeats.push(JSON.parse(JSON.stringify(details)) as LiveView);
  });
  const input: CompleteChatInput = {
    ...completeChatInput,
    ...(setUp.thinkingLevel === undefined ? {} : { thinkingLevel: setUp.thinkingLevel }),
  };
  return {
    dependencies,
    environment,
    heartbeats,
    source,
    run: () => environment.run(activity, input) as Promise<CompleteChatResult>,
  };
}

/** The failure that a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<{
  readonly type: string;
  readonly message: string;
  readonly nonRetryable: boolean;
  readonly nextRetryDelay?: unknown;
}> {
  try {
    await promise;
  } catch (error) {
    return error as Awaited<ReturnType<typeof failureOf>>;
  }
  throw new Error('It did not fail.');
}
