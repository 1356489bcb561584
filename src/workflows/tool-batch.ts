// One tool batch: the calls of one assistant message, from the hook before a call to its result in the
// transcript. Every call gets exactly one result, in the order the model asked, whatever happens.
//
// `tool_execution_start` is emitted for a call that preparation reaches, and then always
// `tool_execution_end`; a call that an abort kept from being reached has neither, only its result.
//
// In the sandbox every promise costs a stack trace, so the usual batch awaits its tools and nothing else: no
// hook and no approval where there is none.

import type { ToolResult } from '../protocol/activities.js';
import type { ToolExecutionMode } from '../protocol/agent-definition.js';
import { queueLimits } from '../protocol/limits.js';
import { toolCallsOf } from '../protocol/messages.js';
import type { AssistantMessage, ToolCall, Untimed } from '../protocol/messages.js';
import type { ExecutableCall, LoopAgent, LoopEffects } from './loop-effects.js';
import { emitEnd, emitStart, recordResult } from './tool-call-events.js';
import { executeCall } from './tool-execution.js';
import { prepareCall, prepareHookedCall } from './tool-preparation.js';
import type { Preparation, ToolBatch } from './tool-preparation.js';
import {
  abortedBeforeExecutionText,
  cutOffText,
  deniedText,
  errorResult,
} from './tool-call-texts.js';

export interface ToolBatchOutcome {
  /** Indices of the result messages. */
  readonly toolResults: readonly number[];
  /** Every result asked that no model call follow. */
  readonly terminate: boolean;
  /** Tokens that tools reported as used. */
  readonly tokens: number;
}

type Results = Map<string, ToolResult>;

/** Executes the batch, sequentially if configured so or if any called tool is `sequential`. */
export function runToolBatch(
  batch: ToolBatch,
  mode: ToolExecutionMode,
  agent: LoopAgent,
  effects: LoopEffects,
): Promise<ToolBatchOutcome> {
  const calls = distinctCallsOf(batch.message);
  for (const call of calls) effects.toolCallStatus(call, 'preparing');
  const called = new Set(calls.map((call) => call.name));
  const sequential =
    mode === 'sequential' ||
    agent.tools.some((tool) => called.has(tool.name) && tool.executionMode === 'sequential');
  const run = sequential ? runSequentially : runInParallel;
  return run(calls, batch, agent, effects);
}

/**
 * Answers the calls of a message that the output limit cut off: none is executed, as what looks like
 * whole arguments may be half of them.
 */
export function answerCutOffCalls(
  message: Untimed<AssistantMessage>,
  index: number,
  consecutive: number,
  effects: LoopEffects,
): readonly number[] {
  const calls = distinctCallsOf(message);
  const result = errorResult(cutOffText(consecutive));
  for (const call of calls) {
    if (effects.isAborted()) break;
    emitStart(call, index, effects);
    emitEnd(call, result, effects);
  }
  return calls.map((call) => recordResult(call, result, effects));
}

async function runSequentially(
  calls: readonly ToolCall[],
  batch: ToolBatch,
  agent: LoopAgent,
  effects: LoopEffects,
): Promise<ToolBatchOutcome> {
  const results: Results = new Map();
  const recorded: number[] = [];
  for (const call of calls) {
    if (effects.isAborted()) {
      effects.toolCallStatus(call, 'done');
    } else {
      emitStart(call, batch.index, effects);
      const preparation = agent.hasBeforeToolCall
        ? await prepareHookedCall(call, batch, agent, effects)
        : prepareCall(call, batch, agent);
      const [answered = preparation] =
        preparation.kind === 'ask' ? await askForApprovals([preparation], effects) : [preparation];
      const result =
        answered.kind === 'settled'
          ? answered.result
          : await executeCall(answered.executable, agent, effects);
      endCall(call, result, results, effects);
    }
    recorded.push(recordResult(call, resultOf(results, call), effects));
  }
  return summarize(calls, results, recorded);
}

async function runInParallel(
  calls: readonly ToolCall[],
  batch: ToolBatch,
  agent: LoopAgent,
  effects: LoopEffects,
): Promise<ToolBatchOutcome> {
  const results: Results = new Map();
  const unsettled: Exclude<Preparation, { kind: 'settled' }>[] = [];
  for (const call of calls) {
    if (effects.isAborted()) {
      effects.toolCallStatus(call, 'done');
      continue;
    }
    emitStart(call, batch.index, effects);
    const preparation = agent.hasBeforeToolCall
      ? await prepareHookedCall(call, batch, agent, effects)
      : prepareCall(call, batch, agent);
    if (preparation.kind === 'settled') endCall(call, preparation.result, results, effects);
    else unsettled.push(preparation);
  }

  const answered = unsettled.some(({ kind }) => kind === 'ask')
    ? await askForApprovals(unsettled, effects)
    : unsettled;
  const ready: ExecutableCall[] = [];
  for (const preparation of answered) {
    if (preparation.kind === 'settled') {
      endCall(preparation.call, preparation.result, results, effects);
    } else ready.push(preparation.executable);
  }

  await forEachBounded(ready, queueLimits.maxParallelCalls, async (executable) => {
    const result = await executeCall(executable, agent, effects);
    endCall(executable.call, result, results, effects);
  });
  const recorded = calls.map((call) => recordResult(call, resultOf(results, call), effects));
  return summarize(calls, results, recorded);
}

/** Asks for all approvals at once; calls that need none pass through, and all do after an abort. */
async function askForApprovals(
  preparations: readonly Preparation[],
  effects: LoopEffects,
): Promise<readonly Preparation[]> {
  const asking = preparations.filter((preparation) => preparation.kind === 'ask');
  if (asking.length === 0 || effects.isAborted()) return preparations;
  const outcomes = await effects.awaitApprovals(asking.map(({ executable }) => executable));
  return preparations.map((preparation) => {
    if (preparation.kind !== 'ask') return preparation;
    const outcome = outcomes[asking.indexOf(preparation)] ?? { kind: 'aborted' };
    const { call } = preparation.executable;
    switch (outcome.kind) {
      case 'approved':
        return { kind: 'ready', executable: preparation.executable };
      case 'denied':
        return { kind: 'settled', call, result: errorResult(deniedText(outcome.reason)) };
      case 'aborted':
        return { kind: 'settled', call, result: errorResult(abortedBeforeExecutionText) };
    }
  });
}

/** Ids are unique on arrival. Should one repeat all the same, its first call is the one answered. */
function distinctCallsOf(message: Untimed<AssistantMessage>): readonly ToolCall[] {
  const seen = new Set<string>();
  return toolCallsOf(message).filter((call) => {
    if (seen.has(call.id)) return false;
    seen.add(call.id);
    return true;
  });
}

/** Runs `action` for each item, at most `limit` at a time, started in order. */
function forEachBounded<T>(
  items: readonly T[],
  limit: number,
  action: (item: T) => Promise<void>,
): Promise<unknown> {
  const [only] = items;
  if (only !== undefined && items.length === 1) return action(only);
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await action(item);
  };
  return Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
}

/** Calls that preparation never reached were kept from it by an abort. */
function resultOf(results: Results, call: ToolCall): ToolResult {
  return results.get(call.id) ?? errorResult(abortedBeforeExecutionText);
}

function endCall(call: ToolCall, result: ToolResult, results: Results, effects: LoopEffects): void {
  results.set(call.id, result);
  effects.toolCallStatus(call, 'done');
  emitEnd(call, result, effects);
}

function summarize(
  calls: readonly ToolCall[],
  results: Results,
  toolResults: readonly number[],
): ToolBatchOutcome {
  const all = calls.map((call) => results.get(call.id));
  return {
    toolResults,
    terminate: all.length > 0 && all.every((result) => result?.terminate === true),
    tokens: all.reduce((sum, result) => sum + (result?.usage?.total ?? 0), 0),
  };
}
