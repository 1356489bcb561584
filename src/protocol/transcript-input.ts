// An earlier transcript to start from, as `messages` of the workflow's input. It is read as strictly as
// every later model call needs it: a call without its result would make providers refuse the whole.

import { isJsonObject } from './json.js';
import { inputLimits } from './limits.js';
import { toolCallsOf } from './messages.js';
import type { Message, Untimed } from './messages.js';
import {
  depthProblem,
  lengthProblem,
  parseBlocks,
  parseContent,
  textShape,
  withType,
} from './message-input.js';
import {
  expecting,
  own,
  parseAny,
  parseBoolean,
  parseFields,
  parseItems,
  parseName,
  parseNumber,
  parseObject,
  parseString,
} from './shape.js';
import type { Parse, Parsed, Shape } from './shape.js';
import { describe, excerpt } from './text.js';

type InputTranscript = readonly (Untimed | Message)[];

/** The messages, with their known fields; times that are missing are the caller's to give. */
export function parseTranscript(input: unknown, at: string): Parsed<InputTranscript> {
  if (!Array.isArray(input)) {
    return { problem: `${at}: expected a list of messages, got ${describe(input)}.` };
  }
  const tooLong = lengthProblem(input, inputLimits.maxTranscriptMessages, at);
  if (tooLong !== undefined) return { problem: tooLong };
  const parsed = parseItems(input, at, parseMessage);
  if ('problem' in parsed) return parsed;
  const problem = pairingProblem(parsed.value, at);
  return problem === undefined ? parsed : { problem };
}

const stopReasons = ['stop', 'length', 'toolUse', 'error', 'aborted'] as const;

const parseStopReason = expecting(
  `one of ${stopReasons.join(', ')}`,
  (value): value is (typeof stopReasons)[number] =>
    (stopReasons as readonly unknown[]).includes(value),
);

export const parseUsage = nested({
  required: {
    input: parseNumber,
    output: parseNumber,
    cacheRead: parseNumber,
    cacheWrite: parseNumber,
    reasoning: parseNumber,
    total: parseNumber,
  },
  optional: { cost: parseNumber },
});

const timed = {
  timestamp: expecting('milliseconds', (value): value is number => Number.isFinite(value)),
};

const assistantBlocks: { readonly [type: string]: Shape } = {
  text: textShape,
  thinking: {
    required: { thinking: parseString },
    optional: { field: parseName, signature: parseObject },
  },
  toolCall: {
    required: { id: parseName, name: parseName, arguments: parseObject },
    optional: {
      argumentsError: nested({ required: { message: parseString, raw: parseString } }),
      signature: parseObject,
    },
  },
};

const parseAssistantBlock: Parse = (block, at) => {
  if (!isJsonObject(block)) return { problem: `${at}: expected a block, got ${describe(block)}.` };
  const type = own(block, 'type');
  const shape =
    typeof type === 'string' && Object.hasOwn(assistantBlocks, type)
      ? assistantBlocks[type]
      : undefined;
  if (shape === undefined) {
    return {
      problem: `${at}.type: expected text, thinking or toolCall, got ${describe(type)}.`,
    };
  }
  return withType(type as string, parseFields(block, at, shape));
};

const parseAssistantContent: Parse = (content, at) =>
  Array.isArray(content)
    ? parseItems(content, at, parseAssistantBlock)
    : { problem: `${at}: expected a list of blocks, got ${describe(content)}.` };

const summary: Shape = { required: { text: parseString }, optional: timed };

const messages: { readonly [Role in Message['role']]: Shape } = {
  user: { required: { content: parseContent }, optional: timed },
  assistant: {
    required: {
      content: parseAssistantContent,
      stopReason: parseStopReason,
      usage: parseUsage,
      provider: parseString,
      model: parseString,
    },
    optional: {
      finishReason: parseString,
      errorMessage: parseString,
      responseId: parseString,
      attempts: parseNumber,
      ...timed,
    },
  },
  toolResult: {
    required: {
      toolCallId: parseName,
      toolName: parseName,
      isError: parseBoolean,
      content: parseBlocks,
    },
    optional: { details: parseAny, durationMs: parseNumber, usage: parseUsage, ...timed },
  },
  custom: {
    required: { customType: parseName, content: parseContent },
    optional: { details: parseAny, ...timed },
  },
  compactionSummary: summary,
  branchSummary: summary,
};

const parseMessage: Parse<Untimed | Message> = (message, at) => {
  if (!isJsonObject(message)) {
    return { problem: `${at}: expected a message, got ${describe(message)}.` };
  }
  const problem = depthProblem(message, at);
  if (problem !== undefined) return { problem };
  const role = own(message, 'role');
  if (typeof role !== 'string' || !Object.hasOwn(messages, role)) {
    return {
      problem: `${at}.role: expected ${Object.keys(messages).join(' or ')}, got ${describe(role)}.`,
    };
  }
  const parsed = parseFields(message, at, messages[role as Message['role']]);
  return 'problem' in parsed ? parsed : { value: { role, ...parsed.value } as Untimed | Message };
};

function nested(shape: Shape): Parse {
  return (value, at) => {
    const object = parseObject(value, at);
    return 'problem' in object ? object : parseFields(object.value, at, shape);
  };
}

/** Every call of an answer that counts has one result, directly after it; no result is without a call. */
function pairingProblem(transcript: InputTranscript, at: string): string | undefined {
  let open = new Set<string>();
  for (const [index, message] of transcript.entries()) {
    const here = `${at}[${index}]`;
    if (message.role === 'toolResult') {
      if (!open.delete(message.toolCallId)) {
        return `${here}.toolCallId: no call before it has the id ${describe(message.toolCallId)}.`;
      }
      continue;
    }
    if (open.size > 0) return unanswered(open, here);
    if (message.role !== 'assistant') continue;
    // Such answers are left out of what the model is sent, and their calls with them.
    if (message.stopReason === 'error' || message.stopReason === 'aborted') continue;
    const ids = toolCallsOf(message).map(({ id }) => id);
    open = new Set(ids);
    if (open.size < ids.length) return `${here}.content: two tool calls have the same id.`;
  }
  return open.size > 0 ? unanswered(open, `${at}[${transcript.length}]`) : undefined;
}

function unanswered(open: ReadonlySet<string>, here: string): string {
  const [id = ''] = open;
  return `${here}: expected the result of the tool call ${excerpt(JSON.stringify(id), 60)}.`;
}
