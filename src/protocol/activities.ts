// The contract between the workflow and its activities. Inputs and results are in history, so they
// carry what is new and refer by digest to what history already holds.

import type { ResolvedAgent, ThinkingLevel } from './agent-definition.js';
import type { Digest, JsonObject, JsonValue } from './json.js';
import type { AssistantMessage, Untimed, Usage, UserContent } from './messages.js';
import type { InputMessage } from './messages.js';

/** `[digest of the message without its timestamp, timestamp]`. */
export type MessageReference = readonly [digest: Digest, timestamp: number];

/**
 * The transcript without its messages. A worker that has the messages before `added` in its cache, or
 * fetches them from the workflow, verifies that they lead to `digest`.
 */
export interface TranscriptReference {
  /** Messages in the transcript, those in `added` included. */
  readonly length: number;
  /** Rolling digest over all of them. */
  readonly digest: Digest;
  /** Rolling digest before `added`. */
  readonly base: Digest;
  /** Messages appended since the previous model call; none when they are too many for an input. */
  readonly added: readonly MessageReference[];
  /** Whose transcript, in a workflow of one's own; absent in the workflow `agent`, which has but one. */
  readonly agent?: string;
}

/** Everything a model call is made from. Digests are resolved by the `context` query. */
export interface ConversationReference {
  readonly transcript: TranscriptReference;
  /** Absent: no system prompt. */
  readonly systemPrompt?: Digest;
  /** Digest of the list of `ToolSpec`s. */
  readonly tools: Digest;
  /** Digest of messages that stand before the transcript (`prepareNextTurn`). */
  readonly prepend?: Digest;
  /** Transcript messages before this index are not sent (`prepareNextTurn`). */
  readonly dropBefore?: number;
}

export interface ResolveAgentInput {
  readonly agent: string;
  readonly workspace: string;
  readonly model?: string;
  readonly thinkingLevel?: ThinkingLevel;
  readonly tools?: readonly string[];
  readonly mcpServers?: readonly string[];
  /** The input replaces the system prompt: refused where the definition forbids it. */
  readonly replacesSystemPrompt: boolean;
  /** Digest of the definition recorded for the previous run of this session. */
  readonly known?: Digest;
}

/** Nothing but the fact when the definition is the one already recorded. */
export type ResolveAgentResult =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'resolved'; readonly agent: ResolvedAgent };

export interface CompleteChatInput {
  readonly agent: string;
  /** The name of the model in the worker's config. */
  readonly model: string;
  readonly thinkingLevel?: ThinkingLevel;
  readonly conversation: ConversationReference;
  /** The turn of the run, from 1. */
  readonly turn: number;
}

/** The first three steps of preparing a call: lookup, `prepareArguments`, validation. */
export type PreparedCall =
  | {
      readonly kind: 'ready';
      /** Arguments to execute with, where they are not the model's own. */
      readonly arguments?: JsonObject;
    }
  /** The call is answered without being executed: unknown tool, invalid arguments. */
  | { readonly kind: 'settled'; readonly text: string };

/**
 * A model's answer. With `stopReason` `aborted` it holds what had arrived. Failures of the provider are
 * thrown as ApplicationFailures, see `FailureType`.
 */
export interface CompleteChatResult {
  readonly message: Untimed<AssistantMessage>;
  /** One per tool call of a message that is neither `length` nor `aborted`, in source order. */
  readonly prepared: readonly PreparedCall[];
}

/** JSON by value, or by a digest that the `context` query resolves while the batch runs. */
export type ByReference<T extends JsonValue> = { readonly value: T } | { readonly digest: Digest };

export interface CallToolInput {
  readonly agent: string;
  readonly workspace: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: ByReference<JsonObject>;
  /** Index of the assistant message that holds the call. */
  readonly message: number;
  readonly maxResultBytes: number;
  readonly maxImageBytes: number;
  /** Further attempts of this call may follow. False: its outcome is final or unknown. */
  readonly retryable: boolean;
}

/** What a tool call came to. `isError` is an answer for the model, not a failure. */
export interface ToolResult {
  readonly content: UserContent;
  readonly details?: JsonValue;
  readonly isError: boolean;
  /** Asks that no model call follow, if every result of the batch asks the same. */
  readonly terminate?: boolean;
  readonly usage?: Usage;
  /** Milliseconds of execution. */
  readonly durationMs?: number;
}

/** What the hooks about one tool call are told. */
export interface ToolHookInput {
  readonly agent: string;
  readonly workspace: string;
  readonly turn: number;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: ByReference<JsonObject>;
  readonly conversation: ConversationReference;
}

/** `block` answers the call with an error result; `arguments` replaces them, unvalidated. */
export interface BeforeToolCallResult {
  readonly block?: boolean;
  readonly reason?: string;
  readonly arguments?: JsonObject;
}

export interface AfterToolCallInput extends ToolHookInput {
  /** Digest of the `ToolResult`; the workflow answers it by the `context` query. */
  readonly result: Digest;
}

/** Fields that replace the result's, one by one. */
export type AfterToolCallResult = Partial<Omit<ToolResult, 'durationMs'>>;

export interface TurnHookInput {
  readonly agent: string;
  readonly workspace: string;
  readonly turn: number;
  readonly model: string;
  readonly thinkingLevel?: ThinkingLevel;
  readonly conversation: ConversationReference;
}

/** What the rest of the run's model calls see; the transcript is never rewritten. */
export interface PrepareNextTurnResult {
  readonly systemPrompt?: string;
  readonly model?: string;
  readonly thinkingLevel?: ThinkingLevel;
  readonly dropBefore?: number;
  readonly prepend?: readonly InputMessage[];
}

/**
 * A method per activity type. All but `reachWorkspace` heartbeat, all may be cancelled; once cancelled, `completeChat` and
 * `callTool` return what there is instead of failing.
 */
export interface AgentActivities {
  /** @throws InvalidInput naming the field that the worker's config does not offer. */
  resolveAgent(input: ResolveAgentInput): Promise<ResolveAgentResult>;
  completeChat(input: CompleteChatInput): Promise<CompleteChatResult>;
  callTool(input: CallToolInput): Promise<ToolResult>;
  /** Does nothing: that it was done tells that a worker serves the workspace's task queue. */
  reachWorkspace(): Promise<void>;
  beforeToolCall(input: ToolHookInput): Promise<BeforeToolCallResult>;
  afterToolCall(input: AfterToolCallInput): Promise<AfterToolCallResult>;
  prepareNextTurn(input: TurnHookInput): Promise<PrepareNextTurnResult>;
  shouldStopAfterTurn(input: TurnHookInput): Promise<boolean>;
}

const named: { readonly [Name in keyof AgentActivities]: true } = {
  resolveAgent: true,
  completeChat: true,
  callTool: true,
  beforeToolCall: true,
  afterToolCall: true,
  prepareNextTurn: true,
  shouldStopAfterTurn: true,
  reachWorkspace: true,
};

/** Their names, which activities of one's own cannot have. */
export const agentActivityNames: readonly string[] = Object.keys(named);
