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

/** Prepares one call of an agent without `beforeToolCall`. What goes wrong is an error result for this call only. */
export function prepareCall(call: ToolCall, batch: ToolBatch, agent: LoopAgent): Preparation {
  const found = findTool(call, batch, agent);
  return found.kind === 'settled' ? found : askPolicy(found.executable);
}

/** The same with the hook asked, which comes before the policy and may replace the arguments. */
export async function prepareHookedCall(
  call: ToolCall,
  batch: ToolBatch,
  agent: LoopAgent,
  effects: LoopEffects,
): Promise<Preparation> {
  const found = findTool(call, batch, agent);
  if (found.kind === 'settled') return found;
  const outcome = await effects.beforeToolCall(found.executable);
  switch (outcome.kind) {
    case 'blocked':
      return settled(call, blockedText(outcome.reason));
    case 'threw':
      return settled(call, beforeToolCallThrewText(outcome.errorMessage));
    case 'aborted':
      return settled(call, abortedBeforeExecutionText);
    case 'proceed': {
      const args = outcome.arguments ?? found.executable.args;
      return askPolicy({ ...found.executable, args });
    }
  }
}

type Found =
  | { readonly kind: 'found'; readonly executable: ExecutableCall }
  | Extract<Preparation, { kind: 'settled' }>;

function findTool(call: ToolCall, batch: ToolBatch, agent: LoopAgent): Found {
  const prepared = preparedFor(call, batch);
  if (prepared === undefined) return settled(call, unpreparedText);
  if (prepared.kind === 'settled') return settled(call, prepared.text);
  const spec = agent.tools.find(({ name }) => name === call.name);
  if (spec === undefined) {
    const names = agent.tools.map(({ name }) => name);
    return settled(call, unknownToolText(call.name, names));
  }
  const args = prepared.arguments ?? call.arguments;
  return {
    kind: 'found',
    executable: { call, args, message: batch.index, spec, turn: batch.turn },
  };
}

function askPolicy(executable: ExecutableCall): Preparation {
  const { call, spec } = executable;
  switch (spec.approval) {
    case 'deny':
      return settled(call, deniedByPolicyText(call.name));
    case 'ask':
      return { kind: 'ask', executable };
    case 'allow':
      return { kind: 'ready', executable };
  }
}

function settled(call: ToolCall, text: string): Extract<Preparation, { kind: 'settled' }> {
  return { kind: 'settled', call, result: errorResult(text) };
}

function preparedFor(call: ToolCall, batch: ToolBatch): PreparedCall | undefined {
  return batch.prepared[toolCallsOf(batch.message).indexOf(call)];
}
