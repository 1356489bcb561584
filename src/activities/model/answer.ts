// What a streamed answer means: a message of the transcript, or the reason why it is no answer.

import { cutUtf8 } from '../../protocol/json.js';
import type { AssistantMessage, StopReason, ToolCall, Untimed } from '../../protocol/messages.js';
import type { ModelDefinition } from '../definitions.js';
import { ModelProblem } from './model-problem.js';
import type { StreamedAnswer } from './stream-accumulator.js';
import { withUniqueIds } from './tool-call-ids.js';
import { toUsage } from './usage.js';

/** Finish reasons with a meaning of their own. Whether calls are there is never read from them. */
const finishReasons: {
  readonly [reason: string]: 'cut' | 'calls' | 'filtered' | 'failed' | 'overflow';
} = {
  length: 'cut',
  max_tokens: 'cut',
  tool_calls: 'calls',
  tool_use: 'calls',
  function_call: 'calls',
  content_filter: 'filtered',
  sensitive: 'filtered',
  safety: 'filtered',
  error: 'failed',
  network_error: 'failed',
  insufficient_system_resource: 'failed',
  model_context_window_exceeded: 'overflow',
};

export interface AnswerContext {
  readonly model: ModelDefinition;
  /** Ids that the transcript's calls have. */
  readonly usedIds: ReadonlySet<string>;
  /** Messages in the transcript: what synthetic ids are made from. */
  readonly transcriptLength: number;
  readonly attempt: number;
}

/** @throws ModelProblem when the stream was truncated, empty or malformed, or the provider filtered it. */
export function toAnswer(
  streamed: StreamedAnswer,
  context: AnswerContext,
): Untimed<AssistantMessage> {
  const { finishReason, toolCalls, text } = streamed;
  if (finishReason === undefined) {
    throw new ModelProblem(
      'unavailable',
      'The answer broke off: its stream ended without a finish reason.',
    );
  }
  const meaning = finishReasons[finishReason.toLowerCase()];
  if (meaning === 'filtered') {
    throw new ModelProblem(
      'rejected',
      `The provider's content filter stopped the answer (finish reason ${finishReason}).`,
    );
  }
  if (meaning === 'failed') {
    throw new ModelProblem(
      'unavailable',
      `The provider gave up the answer (finish reason ${finishReason}).`,
    );
  }
  if (meaning === 'overflow') {
    throw new ModelProblem(
      'overflow',
      `The conversation is longer than the model takes (finish reason ${finishReason}).`,
    );
  }
  if (toolCalls.some((call) => call.name === '')) {
    throw new ModelProblem(
      'unavailable',
      'The answer is malformed: it holds a tool call without a name.',
    );
  }
  if (toolCalls.length === 0 && meaning === 'calls') {
    throw new ModelProblem(
      'unavailable',
      `The answer is malformed: it announces tool calls (finish reason ${finishReason}) and holds none.`,
    );
  }
  if (toolCalls.length === 0 && text.trim() === '') {
    const limit = meaning === 'cut' ? ': the output limit was reached before any text' : '';
    throw new ModelProblem(
      'unavailable',
      `The answer is empty, neither text nor tool calls${limit}.`,
    );
  }
  const stopReason = meaning === 'cut' ? 'length' : toolCalls.length > 0 ? 'toolUse' : 'stop';
  return toMessage(streamed, stopReason, context);
}

/** What had arrived when the call was aborted; nothing when `streamed` is undefined. */
export function toAbortedAnswer(
  streamed: StreamedAnswer | undefined,
  context: AnswerContext,
): Untimed<AssistantMessage> {
  const arrived = streamed ?? nothing;
  const toolCalls = arrived.toolCalls.filter((call) => call.name !== '');
  return toMessage({ ...arrived, toolCalls }, 'aborted', context);
}

/** The message with its texts cut so that it fits a payload. For aborted answers only. */
export function cutAnswer(
  message: Untimed<AssistantMessage>,
  maxBytes: number,
): Untimed<AssistantMessage> {
  // JSON may write a byte as six.
  const perBlock = Math.floor(maxBytes / 12);
  const content = message.content.flatMap((block): Untimed<AssistantMessage>['content'] => {
    if (block.type === 'text') return [{ ...block, text: cutUtf8(block.text, perBlock) }];
    if (block.type === 'thinking') {
      return [{ type: 'thinking', thinking: cutUtf8(block.thinking, perBlock) }];
    }
    return [];
  });
  return { ...message, content };
}

const nothing: StreamedAnswer = {
  text: '',
  thinking: '',
  thinkingField: undefined,
  signature: undefined,
  toolCalls: [],
  finishReason: undefined,
  responseId: undefined,
  usage: undefined,
};

function toMessage(
  streamed: StreamedAnswer,
  stopReason: StopReason,
  { model, usedIds, transcriptLength, attempt }: AnswerContext,
): Untimed<AssistantMessage> {
  const { finishReason, responseId, usage } = streamed;
  const toolCalls = withUniqueIds(streamed.toolCalls, usedIds, transcriptLength);
  return {
    role: 'assistant',
    content: [
      ...thinkingOf(streamed, toolCalls),
      ...(streamed.text === '' ? [] : [{ type: 'text', text: streamed.text } as const]),
      ...toolCalls,
    ],
    provider: model.provider,
    model: model.model,
    usage: toUsage(usage, model.prices),
    stopReason,
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(responseId === undefined ? {} : { responseId }),
    ...(attempt > 1 ? { attempts: attempt } : {}),
  };
}

/** Reasoning that was empty is kept beside tool calls: some servers refuse the calls without the field. */
function thinkingOf(
  { thinking, thinkingField, signature }: StreamedAnswer,
  toolCalls: readonly ToolCall[],
): Untimed<AssistantMessage>['content'] {
  const empty = thinking === '' && (thinkingField === undefined || toolCalls.length === 0);
  if (empty && signature === undefined) return [];
  return [
    {
      type: 'thinking',
      thinking,
      ...(thinkingField === undefined ? {} : { field: thinkingField }),
      ...(signature === undefined ? {} : { signature }),
    },
  ];
}
