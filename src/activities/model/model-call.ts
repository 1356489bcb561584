// From a conversation to the request of one model call: the hooks are asked in their order, and the key is
// asked for last, so that it is as fresh as can be.

import type { CompleteChatInput } from '../../protocol/activities.js';
import type { Conversation } from '../conversation.js';
import type { AgentDefinition, ModelDefinition, ModelHookContext } from '../definitions.js';
import type { Redactor } from '../secrets.js';
import { convertToLlm } from './chat-messages.js';
import { toChatRequest } from './chat-request.js';
import type { ChatRequest } from './chat-request.js';
import type { Credentials } from './chat-stream.js';
import { toCredentials } from './credentials.js';
import { askHook } from './model-hooks.js';
import { scrubKeys } from './scrub-keys.js';

export interface ModelCallParts {
  readonly input: CompleteChatInput;
  readonly agent: AgentDefinition;
  readonly model: ModelDefinition;
  readonly conversation: Conversation;
  readonly signal: AbortSignal;
}

export interface ModelCall {
  readonly credentials: Credentials;
  readonly request: ChatRequest;
}

/**
 * `transformContext`, `convertToLlm`, `getApiKey`: for this call only, the transcript stays as it is.
 * @throws HookFailed naming the hook; ModelProblem when this worker lacks a key
 */
export async function buildModelCall(
  { input, agent, model, conversation, signal }: ModelCallParts,
  {
    environment,
    redactor,
  }: {
    readonly environment: (name: string) => string | undefined;
    readonly redactor: Redactor;
  },
): Promise<ModelCall> {
  const { hooks } = agent;
  const { systemPrompt, tools } = conversation;
  const scrub = (text: string) => scrubKeys(redactor.redact(text));
  const context: ModelHookContext = {
    agent: agent.name,
    model,
    systemPrompt,
    turn: input.turn,
    signal,
  };

  const { transformContext, convertToLlm: convert, getApiKey } = hooks;
  const hooked = transformContext !== undefined || convert !== undefined;
  // Hooks get a copy: what they change is for this call only.
  const visible = hooked ? structuredClone(conversation.visible) : conversation.visible;
  const messages =
    transformContext === undefined
      ? visible
      : await askHook(
          'transformContext',
          () => transformContext(visible, context),
          notAList,
          signal,
          scrub,
        );
  const toolNames = new Set(tools.map(({ name }) => name));
  const convertDefault = () => convertToLlm(messages, model, toolNames);
  const wire =
    convert !== undefined
      ? await askHook('convertToLlm', () => convert(messages, context), notAList, signal, scrub)
      : transformContext === undefined
        ? convertDefault()
        : // What the hook answered may be no messages at all: another attempt would find the same.
          await askHook('transformContext', convertDefault, notAList, signal, scrub);
  const key =
    getApiKey === undefined
      ? undefined
      : await askHook('getApiKey', () => getApiKey(context), notAKey, signal, scrub);
  const credentials = toCredentials(model, key, environment, redactor);
  const { thinkingLevel } = input;
  return {
    credentials,
    request: toChatRequest({ model, systemPrompt, messages: wire, tools, thinkingLevel }),
  };
}

function notAList(answer: unknown): string | undefined {
  return Array.isArray(answer) ? undefined : 'answered no list of messages.';
}

function notAKey(answer: unknown): string | undefined {
  const fine = answer === undefined || answer === null || typeof answer === 'string';
  return fine ? undefined : 'answered something that is no string.';
}
