// Hooks that are functions of the workflow: they run in it, so they are deterministic, and may await
// activities, timers and conditions on its signals. What they are told and what they may change is what
// hooks of a worker's config may; where the agent's definition has hooks as well, both are asked.

import {
  ActivityFailure,
  ChildWorkflowFailure,
  ContinueAsNew,
  DeterminismViolationError,
} from '@temporalio/workflow';
import type {
  AfterToolCallResult,
  BeforeToolCallResult,
  PrepareNextTurnResult,
  ToolResult,
} from '../protocol/activities.js';
import type { ThinkingLevel } from '../protocol/agent-definition.js';
import { deepFreeze } from '../protocol/json.js';
import type { JsonObject } from '../protocol/json.js';
import type { Message, ToolCall } from '../protocol/messages.js';
import { excerpt } from '../protocol/text.js';
import type { AgentSession } from './agent-session.js';
import { hookOutcome } from './hook-outcome.js';
import type { HookOutcome, HookWaiting } from './hook-outcome.js';
import {
  toAfterToolCallResult,
  toBeforeToolCallResult,
  toPrepareNextTurnResult,
  toShouldStop,
} from './hook-values.js';
import type { ExecutableCall, LoopAgent, LoopEffects } from './loop-effects.js';
import type { RunView } from './run-view.js';
import { withFields } from './tool-execution.js';

type Awaitable<T> = T | Promise<T>;

/** What a model or a person is told of a throw. */
const maxErrorLength = 1_000;

/** What the hooks about one tool call are told. All of it is frozen. */
export interface WorkflowToolHookContext {
  /** The agent's name in this workflow. */
  readonly agent: string;
  readonly turn: number;
  /** As the model sent it. */
  readonly toolCall: ToolCall;
  /** The arguments to be executed, validated. */
  readonly args: JsonObject;
  /** The whole transcript. */
  readonly messages: readonly Message[];
}

export interface WorkflowTurnHookContext {
  /** The agent's name in this workflow. */
  readonly agent: string;
  readonly turn: number;
  /** The view the next model call would see. */
  readonly systemPrompt: string | undefined;
  readonly model: string;
  readonly thinkingLevel: ThinkingLevel | undefined;
  readonly messages: readonly Message[];
  /** The whole transcript, in which `dropBefore` is an index. */
  readonly transcript: readonly Message[];
}

/**
 * Functions around tool calls and turns. An abort of the run cancels what they await, and no longer waits
 * for them than the bound allows. Calls of a parallel batch may be in `afterToolCall` at the same time.
 */
export interface WorkflowHooks {
  /**
   * Before a call is executed: `block` answers it with an error result that holds the `reason`, `arguments`
   * replaces its arguments. Asked before the worker's hook, which gets the replaced arguments. A throw is an
   * error result for this call.
   */
  readonly beforeToolCall?: (
    context: WorkflowToolHookContext,
  ) => Awaitable<BeforeToolCallResult | undefined | void>;
  /**
   * After a call was executed: replaces the result's fields, one by one. Asked after the worker's hook, with
   * the result as that left it. A throw is an error result for this call; of an aborted run, a result it has
   * not seen is not recorded.
   */
  readonly afterToolCall?: (
    context: WorkflowToolHookContext & { readonly result: ToolResult },
  ) => Awaitable<AfterToolCallResult | undefined | void>;
  /**
   * After each turn: changes what the rest of the run's model calls see. Asked after the worker's hook; its
   * fields win. A throw ends the run with a HookError.
   */
  readonly prepareNextTurn?: (
    context: WorkflowTurnHookContext,
  ) => Awaitable<PrepareNextTurnResult | undefined | void>;
  /**
   * After each turn: true ends the run, and no queue is polled. So does true from the worker's hook, which is
   * asked first. A throw ends the run with a HookError.
   */
  readonly shouldStopAfterTurn?: (
    context: WorkflowTurnHookContext,
  ) => Awaitable<boolean | undefined | void>;
}

export const workflowHookNames = [
  'beforeToolCall',
  'afterToolCall',
  'prepareNextTurn',
  'shouldStopAfterTurn',
] as const satisfies readonly (keyof WorkflowHooks)[];

export interface HookedRun extends HookWaiting {
  readonly session: AgentSession;
  readonly view: RunView;
}

/** The effects of a run, with the workflow's hooks before or after the worker's. */
export function withWorkflowHooks(
  effects: LoopEffects,
  hooks: WorkflowHooks,
  run: HookedRun,
): LoopEffects {
  const { session, view } = run;
  const name = session.own?.name ?? session.input.agent;
  /** Which hooks the definition on the worker has. */
  let workers: LoopAgent | undefined;

  const transcript = () => deepFreeze([...session.transcript.messages]);

  const toolContext = ({ call, args, turn }: ExecutableCall): WorkflowToolHookContext => ({
    agent: name,
    turn,
    toolCall: deepFreeze(call),
    args: deepFreeze(args),
    messages: transcript(),
  });

  const turnContext = (turn: number): WorkflowTurnHookContext => ({
    agent: name,
    turn,
    systemPrompt: view.systemPrompt,
    model: view.model,
    thinkingLevel: view.thinkingLevel,
    messages: deepFreeze([...view.messages()]),
    transcript: transcript(),
  });

  /** Asks one hook and reads what it returns. */
  const ask = <T>(hook: () => unknown, read: (value: unknown) => T): Promise<HookOutcome<T>> =>
    hookOutcome((async () => read(await hook()))(), run, hookErrorMessage);

  return {
    ...effects,

    async resolveAgent() {
      const outcome = await effects.resolveAgent();
      if (outcome.kind !== 'resolved') return outcome;
      const { agent } = outcome;
      workers = agent;
      return {
        kind: 'resolved',
        agent: {
          tools: agent.tools,
          hasBeforeToolCall: agent.hasBeforeToolCall || hooks.beforeToolCall !== undefined,
          hasAfterToolCall: agent.hasAfterToolCall || hooks.afterToolCall !== undefined,
          hasPrepareNextTurn: agent.hasPrepareNextTurn || hooks.prepareNextTurn !== undefined,
          hasShouldStopAfterTurn:
            agent.hasShouldStopAfterTurn || hooks.shouldStopAfterTurn !== undefined,
        },
      };
    },

    async beforeToolCall(call) {
      let { args } = call;
      if (hooks.beforeToolCall !== undefined) {
        const outcome = await ask(
          () => hooks.beforeToolCall?.(toolContext(call)),
          toBeforeToolCallResult,
        );
        if (outcome.kind !== 'returned') return outcome;
        const { block, reason } = outcome.value;
        if (block === true) return { kind: 'blocked', ...(reason === undefined ? {} : { reason }) };
        args = outcome.value.arguments ?? args;
      }
      if (workers?.hasBeforeToolCall !== true) return { kind: 'proceed', arguments: args };
      const outcome = await effects.beforeToolCall({ ...call, args });
      return outcome.kind === 'proceed' ? { arguments: args, ...outcome } : outcome;
    },

    async afterToolCall(call, result) {
      let fields: AfterToolCallResult = {};
      if (workers?.hasAfterToolCall === true) {
        const outcome = await effects.afterToolCall(call, result);
        if (outcome.kind !== 'replaced') return outcome;
        ({ fields } = outcome);
      }
      if (hooks.afterToolCall === undefined) return { kind: 'replaced', fields };
      const seen = deepFreeze(withFields(result, fields));
      const outcome = await ask(
        () => hooks.afterToolCall?.({ ...toolContext(call), result: seen }),
        toAfterToolCallResult,
      );
      if (outcome.kind !== 'returned') return outcome;
      return { kind: 'replaced', fields: { ...fields, ...outcome.value } };
    },

    async prepareNextTurn(turn) {
      if (workers?.hasPrepareNextTurn === true) {
        const outcome = await effects.prepareNextTurn(turn);
        if (outcome.kind !== 'view') return outcome;
      }
      const outcome = await ask(
        () => hooks.prepareNextTurn?.(turnContext(turn)),
        (value) =>
          toPrepareNextTurnResult(value, {
            models: Object.keys(session.resolved().models),
            transcriptLength: session.transcript.length,
          }),
      );
      return outcome.kind === 'returned'
        ? { kind: 'view', view: view.change(outcome.value) }
        : outcome;
    },

    async shouldStopAfterTurn(turn) {
      if (workers?.hasShouldStopAfterTurn === true) {
        const outcome = await effects.shouldStopAfterTurn(turn);
        if (outcome.kind !== 'answer' || outcome.stop) return outcome;
      }
      const outcome = await ask(() => hooks.shouldStopAfterTurn?.(turnContext(turn)), toShouldStop);
      return outcome.kind === 'returned' ? { kind: 'answer', stop: outcome.value } : outcome;
    },
  };
}

/** @throws what is no affair of the hook: the workflow continues as new, or is not deterministic */
function hookErrorMessage(error: unknown): string {
  if (error instanceof ContinueAsNew || error instanceof DeterminismViolationError) throw error;
  // Such a failure says only that there was one; its cause says which.
  const isWrapped = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure;
  const told = isWrapped ? (error.cause ?? error) : error;
  return excerpt(told instanceof Error ? told.message : textOf(told), maxErrorLength);
}

/** Code may throw anything, also what cannot be made a text. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'it threw a value that is no Error and has no text';
  }
}
