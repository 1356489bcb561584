// The activities that run the config's hooks around tool calls and turns. A hook may run again on another
// worker after a lost one. A throw, or a result of the wrong shape, is a final HookFailed failure; what it
// means for the call or the run is the workflow's business.

import { ApplicationFailure, Context } from '@temporalio/activity';
import type {
  AfterToolCallInput,
  AfterToolCallResult,
  AgentActivities,
  ToolHookInput,
  ToolResult,
  TurnHookInput,
} from '../protocol/activities.js';
import { FailureType } from '../protocol/failure-types.js';
import { isJsonObject, utf8Length } from '../protocol/json.js';
import { defaultLimits } from '../protocol/limits.js';
import { textOf, toolCallsOf } from '../protocol/messages.js';
import type { Message, ToolCall } from '../protocol/messages.js';
import { toToolResultMessage } from '../protocol/tool-result-message.js';
import { plainValue } from '../protocol/plain-value.js';
import { ending, interruptedFailure } from './cancellation.js';
import type { ConversationSource } from './conversation.js';
import type {
  AgentDefinition,
  AgentHooks,
  ToolHookContext,
  TurnHookContext,
  WorkerConfig,
} from './definitions.js';
import { startHeartbeat } from './heartbeat.js';
import {
  fieldsOf,
  HookResultProblem,
  optionalBoolean,
  toBeforeToolCallResult,
  toPrepareNextTurnResult,
} from './hook-results.js';
import { redactedMessage, toRedactedFailure } from './secrets.js';
import type { Redactor } from './secrets.js';
import { keepFullText } from './tools/output-file.js';
import { boundResult } from './tools/result-bounds.js';
import { toToolResult } from './tools/tool-output.js';

export interface HookDependencies {
  readonly config: WorkerConfig;
  /** The source bound to the workflow of the present activity. */
  readonly conversation: () => ConversationSource;
  readonly redactor: Redactor;
}

type HookActivities = Pick<
  AgentActivities,
  'beforeToolCall' | 'afterToolCall' | 'prepareNextTurn' | 'shouldStopAfterTurn'
>;

/** A hook that this worker's config does not have changes nothing. */
export function createHooks(dependencies: HookDependencies): HookActivities {
  const { redactor } = dependencies;
  return {
    beforeToolCall: (input) =>
      runHook(input, dependencies, 'beforeToolCall', async (hook, world) => {
        if (hook === undefined) return {};
        const context = await toolContext(input, world);
        const result = toBeforeToolCallResult(await hook(context), redactor);
        if (result.arguments !== undefined) world.source.rememberValue(result.arguments);
        return result;
      }),

    afterToolCall: (input) =>
      runHook(input, dependencies, 'afterToolCall', async (hook, world) => {
        if (hook === undefined) return {};
        const context = await toolContext(input, world);
        const result = await loadResult(input, world);
        const replaced = await hook({ ...context, result });
        const fields = await toAfterToolCallResult(replaced, result, input, dependencies);
        world.source.remember(toToolResultMessage(input, { ...result, ...fields }));
        return fields;
      }),

    prepareNextTurn: (input) =>
      runHook(input, dependencies, 'prepareNextTurn', async (hook, world) => {
        if (hook === undefined) return {};
        const context = await turnContext(input, world);
        const view = {
          models: world.agent.models,
          transcriptLength: context.transcript.length,
        };
        const result = toPrepareNextTurnResult(await hook(context), view, redactor);
        if (result.systemPrompt !== undefined) world.source.rememberValue(result.systemPrompt);
        if (result.prepend !== undefined) world.source.rememberValue(plainValue(result.prepend));
        return result;
      }),

    shouldStopAfterTurn: (input) =>
      runHook(input, dependencies, 'shouldStopAfterTurn', async (hook, world) => {
        if (hook === undefined) return false;
        const stop: unknown = await hook(await turnContext(input, world));
        if (stop === undefined || typeof stop === 'boolean') return stop ?? false;
        throw new HookResultProblem('shouldStopAfterTurn must return true or false.');
      }),
  };
}

/** What a hook's activity works with. */
interface HookWorld {
  readonly agent: AgentDefinition;
  readonly source: ConversationSource;
  readonly signal: AbortSignal;
}

/**
 * Runs one hook with heartbeats. A cancelled activity ends at once, whatever the hook does with its
 * signal: aborted as cancelled, interrupted for another attempt.
 */
async function runHook<Name extends keyof AgentHooks, Result>(
  input: { readonly agent: string },
  { config, conversation, redactor }: HookDependencies,
  name: Name,
  run: (hook: AgentHooks[Name], world: HookWorld) => Promise<Result>,
): Promise<Result> {
  using _ = startHeartbeat();
  const context = Context.current();
  const agent = Object.hasOwn(config.agents, input.agent) ? config.agents[input.agent] : undefined;
  if (agent === undefined) {
    throw hookFailed(`This worker's config has no agent named ${input.agent}.`);
  }
  const world = { agent, source: conversation(), signal: context.cancellationSignal };
  try {
    return await Promise.race([run(agent.hooks[name], world), context.cancelled]);
  } catch (error) {
    const end = ending(context);
    if (end === 'interrupted') throw interruptedFailure();
    if (end === 'abort') return await context.cancelled;
    if (error instanceof ApplicationFailure && isOurs(error))
      throw toRedactedFailure(error, redactor);
    throw hookFailed(redactedMessage(error, redactor));
  }
}

/** A failure of the source, which another attempt may make good, is none of the hook's. */
function isOurs(failure: ApplicationFailure): boolean {
  return failure.type === FailureType.ConversationUnavailable;
}

function hookFailed(message: string): ApplicationFailure {
  // The server keeps 4 KB of a failure.
  const short = message.length > 1_000 ? `${message.slice(0, 1_000)}…` : message;
  return ApplicationFailure.create({
    type: FailureType.HookFailed,
    message: short,
    nonRetryable: true,
  });
}

async function toolContext(input: ToolHookInput, world: HookWorld): Promise<ToolHookContext> {
  const { source, signal } = world;
  const [{ transcript }, args] = await Promise.all([
    source.load(input.conversation, signal),
    'value' in input.arguments
      ? input.arguments.value
      : source.value(input.arguments.digest, signal),
  ]);
  const { agent, turn } = input;
  const plain = isJsonObject(args) ? args : {};
  const toolCall = findCall(transcript, input) ?? {
    type: 'toolCall',
    id: input.toolCallId,
    name: input.toolName,
    arguments: plain,
  };
  return { agent, turn, toolCall, args: plain, messages: transcript, signal };
}

/** The call as the model sent it. */
function findCall(
  transcript: readonly Message[],
  { toolCallId }: ToolHookInput,
): ToolCall | undefined {
  return transcript
    .filter((message) => message.role === 'assistant')
    .flatMap((message) => toolCallsOf(message))
    .findLast((call) => call.id === toolCallId);
}

async function loadResult(input: AfterToolCallInput, world: HookWorld): Promise<ToolResult> {
  // What the workflow answers for this digest is a result, by the contract.
  return (await world.source.value(input.result, world.signal)) as unknown as ToolResult;
}

async function turnContext(input: TurnHookInput, world: HookWorld): Promise<TurnHookContext> {
  const conversation = await world.source.load(input.conversation, world.signal);
  return {
    agent: input.agent,
    turn: input.turn,
    systemPrompt: conversation.systemPrompt,
    model: input.model,
    thinkingLevel: input.thinkingLevel,
    messages: conversation.visible,
    transcript: conversation.transcript,
    signal: world.signal,
  };
}

/** Only the fields that the hook gave; content within the bounds of the result it replaces. */
async function toAfterToolCallResult(
  value: unknown,
  original: ToolResult,
  input: AfterToolCallInput,
  { config, redactor }: HookDependencies,
): Promise<AfterToolCallResult> {
  const fields = fieldsOf('afterToolCall', value);
  const isError = optionalBoolean('afterToolCall', fields, 'isError');
  const terminate = optionalBoolean('afterToolCall', fields, 'terminate');
  const workspace = config.workspaces[input.workspace];
  const bounded = await boundResult(toToolResult(fields, redactor), {
    maxResultBytes: Math.max(
      defaultLimits.maxToolResultBytes,
      utf8Length(textOf(original.content)),
    ),
    maxImageBytes: Math.max(
      defaultLimits.maxImageBytes,
      ...original.content.map((block) => (block.type === 'image' ? block.data.length : 0)),
    ),
    keepFullText: async (text) =>
      workspace === undefined ? undefined : keepFullText(text, workspace.root, input.toolCallId),
  });
  return {
    ...(fields['content'] === undefined ? {} : { content: bounded.content }),
    ...(bounded.details === undefined ? {} : { details: bounded.details }),
    ...(isError === undefined ? {} : { isError }),
    ...(terminate === undefined ? {} : { terminate }),
    ...(bounded.usage === undefined ? {} : { usage: bounded.usage }),
  };
}
