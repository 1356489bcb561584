// Messages, calls and outcomes for tests of the loop, in few words.

import type { PreparedCall, ToolResult } from '../../src/protocol/activities.js';
import type { ToolSpec } from '../../src/protocol/agent-definition.js';
import type { JsonObject } from '../../src/protocol/json.js';
import { zeroUsage } from '../../src/protocol/messages.js';
import type {
  AssistantMessage,
  InputMessage,
  StopReason,
  ToolCall,
  Untimed,
} from '../../src/protocol/messages.js';
import type { ChatOutcome } from '../../src/workflows/loop-effects.js';

export function userMessage(text: string): InputMessage {
  return { role: 'user', content: [{ type: 'text', text }] };
}

export function toolSpec(name: string, fields: Partial<ToolSpec> = {}): ToolSpec {
  return {
    name,
    description: name,
    parameters: { type: 'object' },
    executionMode: 'parallel',
    effects: 'non-idempotent',
    timeoutMs: 1_000,
    approval: 'allow',
    ...fields,
  };
}

export function toolCall(id: string, name = 'echo', args: JsonObject = {}): ToolCall {
  return { type: 'toolCall', id, name, arguments: args };
}

export function assistantMessage(
  content: Untimed<AssistantMessage>['content'],
  stopReason: StopReason = 'stop',
  fields: Partial<Untimed<AssistantMessage>> = {},
): Untimed<AssistantMessage> {
  return {
    role: 'assistant',
    content,
    provider: 'test',
    model: 'test-1',
    usage: { ...zeroUsage, input: 8, output: 2, total: 10 },
    stopReason,
    ...fields,
  };
}

/** A plain answer. */
export function says(text: string, fields: Partial<Untimed<AssistantMessage>> = {}): ChatOutcome {
  const message = assistantMessage([{ type: 'text', text }], 'stop', fields);
  return { kind: 'message', message, prepared: [] };
}

/** An answer that asks for tools, each call ready to execute unless `prepared` says otherwise. */
export function asks(
  calls: readonly ToolCall[],
  {
    stopReason = 'toolUse',
    prepared = calls.map(() => ({ kind: 'ready' as const })),
  }: { stopReason?: StopReason; prepared?: readonly PreparedCall[] } = {},
): ChatOutcome {
  return { kind: 'message', message: assistantMessage(calls, stopReason), prepared };
}

export function failsWith(errorMessage: string): ChatOutcome {
  return { kind: 'failed', message: assistantMessage([], 'error', { errorMessage }) };
}

/** What had arrived when a model call was aborted. */
export const partialAnswer = assistantMessage([{ type: 'text', text: 'so far' }], 'aborted');

export function returns(text: string, fields: Partial<ToolResult> = {}): ToolResult {
  return { content: [{ type: 'text', text }], isError: false, ...fields };
}

/** A promise that the test settles when it likes. */
export function deferred<T = void>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
} {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}
