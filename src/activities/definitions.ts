// What a worker is told by its config: models, agents, tools, workspaces and hooks, after validation and
// with every default filled in. Functions and secrets' names live here and never reach history.

import type OpenAI from 'openai';
import type {
  ApprovalPolicy,
  ThinkingLevel,
  ToolEffects,
  ToolExecutionMode,
} from '../protocol/agent-definition.js';
import type {
  AfterToolCallResult,
  BeforeToolCallResult,
  PrepareNextTurnResult,
  ToolResult,
} from '../protocol/activities.js';
import type { JsonObject, JsonValue } from '../protocol/json.js';
import type { Message, ToolCall, Usage, UserContent } from '../protocol/messages.js';
import type { RedactingStream } from './secrets.js';

/** Differences of OpenAI-compatible servers, one switch each. Defaults suit most servers. */
export interface ModelQuirks {
  /** Role of the system prompt. Default `system`. */
  readonly systemRole?: 'system' | 'developer';
  /** Field that carries `maxOutputTokens`. Default `max_tokens`. */
  readonly maxTokensField?: 'max_tokens' | 'max_completion_tokens';
  /** Ask for usage with `stream_options`. Default true. */
  readonly streamOptions?: boolean;
  /** How a thinking level is said. Default `reasoning_effort`. */
  readonly thinking?: 'reasoning_effort' | 'enable_thinking' | 'chat_template_kwargs' | 'none';
  /** Split `<think>…</think>` out of the content. Default false. */
  readonly thinkTags?: boolean;
  /** Send reasoning back to the provider it came from. Default true. */
  readonly returnReasoning?: boolean;
  /** Content beside tool calls when there is no text. Default null. */
  readonly emptyContent?: 'null' | 'empty-string';
  /** Put a tool's name into its result message. Default false. */
  readonly toolResultName?: boolean;
  /** Put an assistant message between a tool result and a user message. Default false. */
  readonly assistantAfterToolResult?: boolean;
  /** Shape of tool-call ids on the wire. Default: cut to 40 characters. */
  readonly toolCallIds?: 'as-is' | 'nine-alphanumerics';
  /** Images in tool results go along in a user message. Default true; false leaves a note instead. */
  readonly images?: boolean;
}

/** A model that agents choose by its name in the config. */
export interface ModelDefinition {
  readonly name: string;
  /** The provider's model id, e.g. `gpt-5-mini`. */
  readonly model: string;
  /** The provider's name in messages; its host when not configured. */
  readonly provider: string;
  /** e.g. `https://api.openai.com/v1`. */
  readonly baseURL: string;
  /** Name of the environment variable that holds the key; absent: the server needs none. */
  readonly apiKeyEnv?: string;
  /** Further headers: name → environment variable that holds its value. */
  readonly headersEnv?: { readonly [header: string]: string };
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** Further fields of the request, as the provider spells them. */
  readonly extraBody?: JsonObject;
  /** Dollars per million tokens. */
  readonly prices?: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  };
  readonly quirks: ModelQuirks;
  readonly clocks: ModelClocks;
}

/** Milliseconds. */
export interface ModelClocks {
  /** From the request to its first token. */
  readonly firstTokenMs: number;
  /** Between two tokens. */
  readonly silenceMs: number;
  /** The whole call. */
  readonly callMs: number;
}

export interface Workspace {
  readonly name: string;
  /** Absolute path of the directory that tools may touch. */
  readonly root: string;
}

/** What a tool's `execute` gets beside its arguments. */
export interface ToolContext {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly workspace: Workspace;
  /** Aborts when the run is aborted, the time is up or the worker shuts down. */
  readonly signal: AbortSignal;
  /** Temporal's attempt, from 1. */
  readonly attempt: number;
  /** Bytes of text the result may have; what is longer is cut and kept in a file. */
  readonly maxResultBytes: number;
  readonly maxImageBytes: number;
  /** What commands may see of the worker's environment: an allow-list without its secrets. */
  readonly environment: { readonly [name: string]: string };
  /** The longest a call may ask to run: the config's `maxToolTimeoutMs`. */
  readonly maxTimeoutMs: number;
  /**
   * Replaces secrets in text that a tool keeps elsewhere, e.g. in a file, piece by piece. Results and
   * updates need no such care.
   */
  readonly redacting: () => RedactingStream;
  /** Shows output as it comes, appended to what was shown before; ignored once the call has ended. */
  readonly update: (partial: string) => void;
}

/** A string stands for one text block. */
export type ToolOutput =
  | string
  | {
      readonly content?: string | UserContent;
      readonly details?: JsonValue;
      readonly isError?: boolean;
      readonly terminate?: boolean;
      readonly usage?: Usage;
    };

export interface ToolDefinition {
  readonly name: string;
  readonly label?: string;
  readonly description: string;
  /** JSON schema. */
  readonly parameters: JsonObject;
  /** Mends arguments before validation, e.g. renames a field; a throw is an error result. */
  readonly prepareArguments?: (args: JsonObject) => JsonObject;
  /** Default `parallel`. */
  readonly executionMode?: ToolExecutionMode;
  /** Default `non-idempotent`. */
  readonly effects?: ToolEffects;
  /** Default 10 minutes. */
  readonly timeoutMs?: number;
  /** A throw is an error result with its message. */
  readonly execute: (args: JsonObject, context: ToolContext) => Promise<ToolOutput> | ToolOutput;
}

/** What the hooks around a model call are told. */
export interface ModelHookContext {
  readonly agent: string;
  readonly model: ModelDefinition;
  readonly systemPrompt: string | undefined;
  readonly turn: number;
  readonly signal: AbortSignal;
}

export interface ToolHookContext {
  readonly agent: string;
  readonly turn: number;
  readonly toolCall: ToolCall;
  /** The arguments to be executed, validated. */
  readonly args: JsonObject;
  readonly messages: readonly Message[];
  readonly signal: AbortSignal;
}

export interface TurnHookContext {
  readonly agent: string;
  readonly turn: number;
  /** The view the next model call would see. */
  readonly systemPrompt: string | undefined;
  readonly model: string;
  readonly thinkingLevel: ThinkingLevel | undefined;
  readonly messages: readonly Message[];
  /** The whole transcript, in which `dropBefore` is an index. */
  readonly transcript: readonly Message[];
  readonly signal: AbortSignal;
}

type Awaitable<T> = T | Promise<T>;

/** Hooks may run again after a lost worker. A throw of the first three, or of the last two, ends the run in an error. */
export interface AgentHooks {
  /** Changes what this model call sees. */
  readonly transformContext?: (
    messages: readonly Message[],
    context: ModelHookContext,
  ) => Awaitable<readonly Message[]>;
  /** Replaces the conversion to the provider's messages, the system prompt aside. */
  readonly convertToLlm?: (
    messages: readonly Message[],
    context: ModelHookContext,
  ) => Awaitable<readonly OpenAI.ChatCompletionMessageParam[]>;
  /** Asked on every call; undefined falls back to `apiKeyEnv`. */
  readonly getApiKey?: (context: ModelHookContext) => Awaitable<string | undefined>;
  /** A throw is an error result for this call. */
  readonly beforeToolCall?: (
    context: ToolHookContext,
  ) => Awaitable<BeforeToolCallResult | undefined | void>;
  /** A throw is an error result for this call. */
  readonly afterToolCall?: (
    context: ToolHookContext & { readonly result: ToolResult },
  ) => Awaitable<AfterToolCallResult | undefined | void>;
  readonly prepareNextTurn?: (
    context: TurnHookContext,
  ) => Awaitable<PrepareNextTurnResult | undefined | void>;
  readonly shouldStopAfterTurn?: (context: TurnHookContext) => Awaitable<boolean>;
}

export interface AgentDefinition {
  readonly name: string;
  readonly systemPrompt?: string;
  /** Whether workflow input may replace the system prompt. Default true. */
  readonly allowSystemPrompt: boolean;
  /** The model used when the input names none. */
  readonly model: string;
  /** Names of the models the input may choose. */
  readonly models: readonly string[];
  readonly thinkingLevel?: ThinkingLevel;
  /** Names of tools, in the order the model sees them. */
  readonly tools: readonly string[];
  readonly approval: { readonly [tool: string]: ApprovalPolicy };
  readonly hooks: AgentHooks;
}

/** A worker's config after validation. */
export interface WorkerConfig {
  readonly models: { readonly [name: string]: ModelDefinition };
  readonly agents: { readonly [name: string]: AgentDefinition };
  /** Built-in tools and the user's, by name. */
  readonly tools: { readonly [name: string]: ToolDefinition };
  readonly workspaces: { readonly [name: string]: Workspace };
  /** Milliseconds a call waits for a worker of a named workspace; what a main worker says holds for the run. */
  readonly workspaceWaitMs: number;
  /** The longest time-out a bash call may ask for. */
  readonly maxToolTimeoutMs: number;
  /** Bytes the worker's cache of transcripts may hold. */
  readonly cacheBytes: number;
  /** Milliseconds activities have to finish when the worker is told to stop. */
  readonly shutdownGraceMs: number;
  /** Names of further environment variables tools may see; the provider's keys never pass. */
  readonly toolEnvironment: readonly string[];
  /** Absolute path of a file of workflows that are served beside `agent`. */
  readonly workflows?: string;
  /** Activities for such workflows. */
  readonly activities?: OwnActivities;
}

/** Activities as Temporal takes them, by type; for `proxyActivities` of one's own workflows. */
export interface OwnActivities {
  readonly [type: string]: (...args: never[]) => unknown;
}
