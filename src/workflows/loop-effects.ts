// What the loop does to the world, as functions it is given. The workflow wires them to activities and
// queues; tests wire them to plain values.
//
// Contract: an effect never rejects for anything a provider, tool, hook or person can cause; such things
// are outcomes. A rejection is a bug of ours and fails the Workflow Task. Once `isAborted()` is true every
// pending effect settles within a bound.

import type {
  AfterToolCallResult,
  PreparedCall,
  PrepareNextTurnResult,
  ToolResult,
} from '../protocol/activities.js';
import type { ToolExecutionMode, ToolSpec } from '../protocol/agent-definition.js';
import type { AgentEvent } from '../protocol/events.js';
import type { JsonObject } from '../protocol/json.js';
import type { AssistantMessage, InputMessage, ToolCall, Untimed } from '../protocol/messages.js';
import type { QueuedMessageSummary } from '../protocol/session.js';

/** What an agent run begins with. */
export type RunStart =
  | { readonly kind: 'prompt'; readonly messages: readonly InputMessage[] }
  /**
   * Runs on from the transcript. `messages` is the batch that stands in for a prompt when the tail is an
   * assistant message; `skipFirstSteeringPoll` when that batch came from steering.
   */
  | {
      readonly kind: 'continue';
      readonly messages: readonly InputMessage[];
      readonly skipFirstSteeringPoll: boolean;
    };

export type RunOutcome =
  /** Nothing was left to do, or `shouldStopAfterTurn` said so. */
  | { readonly kind: 'finished' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'limit'; readonly limit: string }
  /** `cause`: the agent could not be resolved, the model failed, a turn hook threw. */
  | {
      readonly kind: 'failed';
      readonly cause: 'input' | 'model' | 'hook';
      readonly errorMessage: string;
    };

/** The agent as far as the loop needs it. */
export interface LoopAgent {
  readonly tools: readonly ToolSpec[];
  readonly hasBeforeToolCall: boolean;
  readonly hasAfterToolCall: boolean;
  readonly hasPrepareNextTurn: boolean;
  readonly hasShouldStopAfterTurn: boolean;
}

export type ResolveOutcome =
  | { readonly kind: 'resolved'; readonly agent: LoopAgent }
  | { readonly kind: 'failed'; readonly errorMessage: string }
  | { readonly kind: 'aborted' };

export type ChatOutcome =
  | {
      /** Also an aborted call that had begun: its message has `stopReason` `aborted`. */
      readonly kind: 'message';
      readonly message: Untimed<AssistantMessage>;
      readonly prepared: readonly PreparedCall[];
    }
  /** Retries exhausted, or final: becomes a message with `stopReason` `error`. */
  | { readonly kind: 'failed'; readonly message: Untimed<AssistantMessage> }
  /** Aborted before the call began: no message is invented. */
  | { readonly kind: 'aborted' };

export type BeforeToolCallOutcome =
  | { readonly kind: 'proceed'; readonly arguments?: JsonObject }
  | { readonly kind: 'blocked'; readonly reason?: string }
  | { readonly kind: 'threw'; readonly errorMessage: string }
  | { readonly kind: 'aborted' };

export type ApprovalOutcome =
  | { readonly kind: 'approved' }
  | { readonly kind: 'denied'; readonly reason?: string }
  | { readonly kind: 'aborted' };

export type AfterToolCallOutcome =
  | { readonly kind: 'replaced'; readonly fields: AfterToolCallResult }
  | { readonly kind: 'threw'; readonly errorMessage: string }
  | { readonly kind: 'aborted' };

export type PrepareNextTurnOutcome =
  | { readonly kind: 'view'; readonly view: PrepareNextTurnResult }
  | { readonly kind: 'threw'; readonly errorMessage: string }
  | { readonly kind: 'aborted' };

export type ShouldStopOutcome =
  | { readonly kind: 'answer'; readonly stop: boolean }
  | { readonly kind: 'threw'; readonly errorMessage: string }
  | { readonly kind: 'aborted' };

/** A call as it goes to execution. */
export interface ExecutableCall {
  readonly call: ToolCall;
  /** The arguments to execute: the model's, mended by preparation, or replaced by a hook. */
  readonly args: JsonObject;
  /** Index of the assistant message that holds the call. */
  readonly message: number;
  readonly spec: ToolSpec;
  readonly turn: number;
}

/** What `state` shows of a call; the loop itself sets all but `waiting_for_workspace`. */
export type ToolCallProgress = 'preparing' | 'running' | 'waiting_for_workspace' | 'done';

export interface LoopLimits {
  readonly maxTurns: number;
  readonly maxTotalTokens?: number;
}

export interface LoopSettings {
  readonly toolExecution: ToolExecutionMode;
  readonly limits: LoopLimits;
}

export interface LoopEffects {
  /** True from the moment an abort was asked for. Nothing new may start afterwards. */
  readonly isAborted: () => boolean;
  /** Appends to the transcript and returns the index. Timestamps are the effect's. */
  readonly append: (message: Untimed) => number;
  /** Messages in the transcript now; only the loop appends while a run is active. */
  readonly transcriptLength: () => number;
  /**
   * `result` comes with `tool_execution_end`: in a parallel batch its message enters the transcript only
   * when all results are in.
   */
  readonly emit: (event: AgentEvent, result?: ToolResult) => void;
  readonly resolveAgent: () => Promise<ResolveOutcome>;
  readonly completeChat: (turn: number) => Promise<ChatOutcome>;
  /** Takes what the mode allows off the queue: the caller appends it before its next await. */
  readonly takeSteering: () => readonly InputMessage[];
  readonly takeFollowUps: () => readonly InputMessage[];
  /** Whether either queue holds a message; takes nothing. */
  readonly hasQueuedMessages: () => boolean;
  readonly beforeToolCall: (call: ExecutableCall) => Promise<BeforeToolCallOutcome>;
  /** Asks for all at once (logging `approval_requested`) and waits for all; outcomes in the order given. */
  readonly awaitApprovals: (
    calls: readonly ExecutableCall[],
  ) => Promise<readonly ApprovalOutcome[]>;
  /** Runs the tool. Once aborted it settles with the real result, or an aborted one. */
  readonly callTool: (call: ExecutableCall) => Promise<ToolResult>;
  readonly afterToolCall: (
    call: ExecutableCall,
    result: ToolResult,
  ) => Promise<AfterToolCallOutcome>;
  /** The effect keeps the returned view for the run's later calls. */
  readonly prepareNextTurn: (turn: number) => Promise<PrepareNextTurnOutcome>;
  readonly shouldStopAfterTurn: (turn: number) => Promise<ShouldStopOutcome>;
  /** A server limit that the next turn could pass, e.g. `historyBytes`; undefined while there is room. */
  readonly exhaustedLimit: () => { readonly limit: string; readonly value: number } | undefined;
  /** Shown in `state`; the loop calls it as a call moves on. */
  readonly toolCallStatus: (call: ToolCall, status: ToolCallProgress) => void;
  /** What a run that ends now leaves undelivered; undefined while the session stays open. */
  readonly undelivered: () => readonly QueuedMessageSummary[] | undefined;
}
