// The activity `completeChat`: one model call of one turn. Loads the conversation, asks the hooks, streams
// one chat completion and prepares the calls it asks for.
//
// Aborted, it returns what had arrived. Whatever the provider does is a failure that the workflow's retry
// policy acts on; how often it failed travels in the heartbeat details from attempt to attempt.

import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Info } from '@temporalio/activity';
import type {
  AgentActivities,
  CompleteChatInput,
  CompleteChatResult,
  PreparedCall,
} from '../protocol/activities.js';
import { FailureType } from '../protocol/failure-types.js';
import { jsonSize } from '../protocol/json.js';
import { payloadLimits, queueLimits } from '../protocol/limits.js';
import { toolCallsOf } from '../protocol/messages.js';
import type { AssistantMessage, Untimed } from '../protocol/messages.js';
import { ending, interruptedFailure } from './cancellation.js';
import type { Conversation, ConversationSource } from './conversation.js';
import type { AgentDefinition, ModelDefinition, WorkerConfig } from './definitions.js';
import { startHeartbeat } from './heartbeat.js';
import { cutAnswer, toAbortedAnswer, toAnswer } from './model/answer.js';
import type { AnswerContext } from './model/answer.js';
import { buildModelCall } from './model/model-call.js';
import { streamChat, tooLarge } from './model/chat-stream.js';
import { toModelFailure } from './model/model-failure.js';
import { unlessCancelled } from './model/model-hooks.js';
import { ModelProblem } from './model/model-problem.js';
import { createModelProgress, earlierFailuresOf, nothing } from './model/model-progress.js';
import { scrubKeys } from './model/scrub-keys.js';
import { createStreamAccumulator } from './model/stream-accumulator.js';
import { idsOf } from './model/tool-call-ids.js';
import type { Redactor } from './secrets.js';
import { toRedactedFailure } from './secrets.js';
import { prepareCall } from './tool-arguments.js';

export interface CompleteChatDependencies {
  readonly config: WorkerConfig;
  /** Bound to the workflow of the present activity. */
  readonly conversation: () => ConversationSource;
  readonly environment: (name: string) => string | undefined;
  readonly redactor: Redactor;
}

export function createCompleteChat(
  dependencies: CompleteChatDependencies,
): AgentActivities['completeChat'] {
  return async (input) => {
    const context = Context.current();
    const began = performance.now();
    const signal = context.cancellationSignal;
    const { agent, model } = chosen(input, dependencies.config);
    const accumulator = createStreamAccumulator({ thinkTags: model.quirks.thinkTags === true });
    const earlierFailures = earlierFailuresOf(context.info.heartbeatDetails);
    const source = dependencies.conversation();
    let conversation: Conversation | undefined;
    let asked = false;

    using heartbeat = startHeartbeat();
    const progress = createModelProgress(input.turn, context.info.attempt, dependencies.redactor);
    heartbeat.show(() => progress(accumulator, earlierFailures));
    try {
      conversation = await unlessCancelled(() => source.load(input.conversation, signal), signal);
      const { credentials, request } = await buildModelCall(
        { input, agent, model, conversation, signal },
        dependencies,
      );
      asked = true;
      await streamChat(
        withinActivity(model, context.info, began),
        credentials,
        request,
        accumulator,
        signal,
      );
      if (!signal.aborted) {
        const answer = toAnswer(
          accumulator.end(),
          answerContext(model, conversation, context.info),
        );
        return finish(answer, conversation, source, dependencies);
      }
    } catch (error) {
      if (!signal.aborted) {
        const scrub = (text: string) => scrubKeys(dependencies.redactor.redact(text));
        // Hooks, the conversation, or a fault of ours: no failure of the provider.
        const own =
          error instanceof ApplicationFailure || !(asked || error instanceof ModelProblem);
        if (own) throw toRedactedFailure(error, dependencies.redactor);
        const { failure, retry } = toModelFailure(error, {
          provider: `${model.provider} ${model.baseURL}`,
          earlierFailures,
          scrub,
        });
        // The partial text is no answer: what follows is another attempt.
        const last = {
          ...progress(accumulator, earlierFailures + 1),
          text: nothing,
          thinking: nothing,
        };
        heartbeat.flush(retry === undefined ? last : { ...last, retry });
        throw failure;
      }
    }
    if (ending(context) === 'interrupted') throw interruptedFailure();
    const aborted = toAbortedAnswer(
      accumulator.end(),
      answerContext(model, conversation, context.info),
    );
    return finishAborted(aborted, source, dependencies);
  };
}

/** @throws InvalidInput when this worker's config lacks what the recorded definition names */
function chosen(
  input: CompleteChatInput,
  { agents, models }: WorkerConfig,
): { readonly agent: AgentDefinition; readonly model: ModelDefinition } {
  const agent = Object.hasOwn(agents, input.agent) ? agents[input.agent] : undefined;
  const model = Object.hasOwn(models, input.model) ? models[input.model] : undefined;
  if (agent !== undefined && model !== undefined) return { agent, model };
  const lacking = agent === undefined ? `agent "${input.agent}"` : `model "${input.model}"`;
  throw ApplicationFailure.create({
    type: FailureType.InvalidInput,
    message: `The config of this worker has no ${lacking}.`,
    nonRetryable: true,
  });
}

/**
 * The whole-call clock runs out before Temporal's own time-out, which would neither count as a failure of
 * the provider nor say what happened.
 */
function withinActivity(
  model: ModelDefinition,
  { startToCloseTimeoutMs }: Info,
  began: number,
): ModelDefinition {
  const margin = Math.min(10_000, startToCloseTimeoutMs / 20);
  const left = startToCloseTimeoutMs - margin - (performance.now() - began);
  const callMs = Math.max(1, Math.round(Math.min(model.clocks.callMs, left)));
  return { ...model, clocks: { ...model.clocks, callMs } };
}

function answerContext(
  model: ModelDefinition,
  conversation: Conversation | undefined,
  { attempt }: Info,
): AnswerContext {
  const { transcript = [], visible = [] } = conversation ?? {};
  return {
    model,
    usedIds: idsOf([...transcript, ...visible]),
    transcriptLength: transcript.length,
    attempt,
  };
}

function finish(
  answer: Untimed<AssistantMessage>,
  { tools }: Conversation,
  source: ConversationSource,
  { config, redactor }: CompleteChatDependencies,
): CompleteChatResult {
  const message = redactor.redactJson(answer);
  const calls = message.stopReason === 'length' ? [] : toolCallsOf(message);
  const prepared: readonly PreparedCall[] = redactor.redactJson(
    calls.map((call, index) =>
      index < queueLimits.maxCallsOfAnswer
        ? prepareCall(call, tools, config.tools)
        : beyondTheLimit(calls.length),
    ),
  );
  const result = { message, prepared };
  if (jsonSize(result) > payloadLimits.maxPayloadBytes) throw tooLarge();
  source.remember(message);
  for (const [index, call] of calls.entries()) {
    const outcome = prepared[index];
    if (outcome?.kind !== 'ready') continue;
    const args = outcome.arguments ?? call.arguments;
    if (jsonSize(args) > payloadLimits.maxInlineArgumentsBytes) source.rememberValue(args);
  }
  return result;
}

/** A history takes 51,200 events: an answer with thousands of calls would end the session in one turn. */
function beyondTheLimit(count: number): PreparedCall {
  const max = queueLimits.maxCallsOfAnswer;
  return {
    kind: 'settled',
    text: `The answer holds ${count} tool calls, of which only the first ${max} are executed. This one was not; ask for it again in a later answer.`,
  };
}

function finishAborted(
  answer: Untimed<AssistantMessage>,
  source: ConversationSource,
  { redactor }: CompleteChatDependencies,
): CompleteChatResult {
  const whole = redactor.redactJson(answer);
  const { maxPayloadBytes } = payloadLimits;
  const message = jsonSize(whole) > maxPayloadBytes ? cutAnswer(whole, maxPayloadBytes) : whole;
  source.remember(message);
  return { message, prepared: [] };
}
