// The last two steps of preparing a tool call: the hook before it, then the approval policy. Lookup,
// `prepareArguments` and validation came with the model's answer.

import type { PreparedCall, ToolResult } from '../protocol/activities.js';
import { toolCallsOf } from '../protocol/messages.js';
import type { AssistantMessage, ToolCall, Untimed } from '../protocol/messages.js';
import type { ExecutableCall, LoopAgent, LoopEffects } from './loop-effects.js';
import {
  abortedBeforeExecutionText,
  beforeToolCallThrewText,
  blockedText,
  deniedByPolicyText,
  errorResult,
  unknownToolText,
  unpreparedText,
} from './tool-call-texts.js';

export interface ToolBatch {
  readonly message: Untimed<AssistantMessage>;
  /** Index of `message` in the transcript. */
  readonly index: number;
  /** One per call of the message, in source order. */
  readonly prepared: readonly PreparedCall[];
  readonly turn: number;
}

export type Preparation =
  | { readonly kind: 'ready'; readonly executable: ExecutableCall }
  /** Ready once a person approves. */
  | { readonly kind: 'ask'; readonly executable: ExecutableCall }
  /** Answered without being executed; `afterToolCall` is not asked. */
  | { readonly kind: 'settled'; readonly call: ToolCall; readonly result: ToolResult };

/** Prepares one call. Whatever goes wrong is an error result for this call only. */
export async function prepareCall(
  call: ToolCall,
  batch: ToolBatch,
  agent: LoopAgent,
  effects: LoopEffects,
): Promise<Preparation> {
  const settled = (text: string): Preparation => ({
    kind: 'settled',
    call,
    result: errorResult(text),
  });
  const prepared = preparedFor(call, batch);
  if (prepared === undefined) return settled(unpreparedText);
  if (prepared.kind === 'settled') return settled(prepared.text);
  const spec = agent.tools.find(({ name }) => name === call.name);
  if (spec === undefined) {
    return settled(
      unknownToolText(
        call.name,
        agent.tools.map(({ name }) => name),
      ),
    );
  }

  let executable: ExecutableCall = {
    call,
    args: prepared.arguments ?? call.arguments,
    message: batch.index,
    spec,
    turn: batch.turn,
  };
  if (agent.hasBeforeToolCall) {
    const outcome = await effects.beforeToolCall(executable);
    switch (outcome.kind) {
      case 'blocked':
        return settled(blockedText(outcome.reason));
      case 'threw':
        return settled(beforeToolCallThrewText(outcome.errorMessage));
      case 'aborted':
        return settled(abortedBeforeExecutionText);
      case 'proceed':
        executable = { ...executable, args: outcome.arguments ?? executable.args };
    }
  }
  switch (spec.approval) {
    case 'deny':
      return settled(deniedByPolicyText(call.name));
    case 'ask':
      return { kind: 'ask', executable };
    case 'allow':
      return { kind: 'ready', executable };
  }
}

function preparedFor(call: ToolCall, batch: ToolBatch): PreparedCall | undefined {
  return batch.prepared[toolCallsOf(batch.message).indexOf(call)];
}
