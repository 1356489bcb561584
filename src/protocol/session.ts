// The workflow: its type, its input, its results and what its queries answer.

import type { ThinkingLevel, ToolExecutionMode } from './agent-definition.js';
import type { InputMessage, Message, StopReason, Untimed, Usage } from './messages.js';

export const workflowType = 'agent';
export const defaultTaskQueue = 'holdfast';
export const defaultAgentName = 'default';
export const defaultWorkspaceName = 'default';

export type QueueMode = 'one-at-a-time' | 'all';
export type Lifetime = 'run' | 'session';

export interface RunLimits {
  /** Turns of one agent run. Default 200. */
  readonly maxTurns?: number;
  /** Tokens one agent run may use, input and output. No default. */
  readonly maxTotalTokens?: number;
  /** Bytes of text in one tool result. Default 50 KB. */
  readonly maxToolResultBytes?: number;
  /** Bytes of base64 in one image. Default 1 MB. */
  readonly maxImageBytes?: number;
}

/** A message as people write it. */
export type PromptMessage = string | { readonly text: string } | InputMessage;

/** What a workflow is started with; a bare string stands for `{ prompt }`. */
export interface AgentInput {
  readonly prompt?: PromptMessage | readonly PromptMessage[];
  /** An earlier transcript; without `prompt` a run continues it. */
  readonly messages?: readonly (Untimed | Message)[];
  readonly agent?: string;
  readonly model?: string;
  readonly thinkingLevel?: ThinkingLevel;
  readonly tools?: readonly string[];
  readonly mcpServers?: readonly string[];
  readonly systemPrompt?: string;
  readonly workspace?: string;
  readonly toolExecution?: ToolExecutionMode;
  readonly steeringMode?: QueueMode;
  readonly followUpMode?: QueueMode;
  readonly lifetime?: Lifetime;
  /** Lifetime `session`: closes after being idle this long, e.g. `30 minutes` or milliseconds. */
  readonly idleTimeout?: string | number;
  readonly limits?: RunLimits;
}

/** Half-open: `from` is in, `to` is not. */
export interface MessageRange {
  readonly from: number;
  readonly to: number;
}

/** A queued message in short; its whole is in the signal that brought it. */
export interface QueuedMessageSummary {
  readonly kind: 'steer' | 'followUp' | 'prompt';
  readonly id?: string;
  /** The first 200 characters of its text. */
  readonly preview: string;
  readonly images?: number;
}

/** The last answer in the shape of an OpenAI chat-completion message; reasoning removed. */
export interface ResponseMessage {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: 'function';
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  /** Set where the text was cut to fit; the whole answer is in the transcript. */
  readonly truncated?: true;
}

/** Lifetime `run`: what the workflow completes with. */
export interface AgentRunResult {
  readonly stopReason: StopReason | 'limit';
  readonly response: ResponseMessage | null;
  readonly usage: Usage;
  readonly turns: number;
  readonly newMessages: MessageRange;
  readonly undelivered: readonly QueuedMessageSummary[];
}

/** Lifetime `session`: what the workflow completes with when closed. */
export interface AgentSessionResult {
  readonly runs: number;
  readonly usage: Usage;
  readonly undelivered: readonly QueuedMessageSummary[];
}

export type SessionStatus =
  | 'starting'
  | 'running'
  | 'waiting_for_approval'
  | 'waiting_for_workspace'
  | 'idle'
  | 'closed';

export interface PendingToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /**
   * `preparing`: not started; `waiting_for_approval`; `running`: its activity is scheduled;
   * `waiting_for_workspace`: no worker of its workspace took it so far.
   */
  readonly status: 'preparing' | 'waiting_for_approval' | 'running' | 'waiting_for_workspace';
}

/** Whom calls with the status `waiting_for_workspace` wait for. */
export interface AwaitedWorkspace {
  readonly workspace: string;
  /** What a worker has to poll; it does when its config declares the workspace. */
  readonly taskQueue: string;
}

/** Answer of the `state` query. */
export interface AgentState {
  readonly status: SessionStatus;
  readonly lifetime: Lifetime;
  /** The name of its definition. */
  readonly agent: string;
  /** How it is addressed, in a workflow of one's own. */
  readonly name?: string;
  /** All agents of such a workflow by name; the first is meant where none is named. */
  readonly names?: readonly string[];
  /** The provider's model id; absent before the agent is resolved. */
  readonly model?: string;
  /** Agent runs begun so far. */
  readonly runs: number;
  /** The present turn of the present run; 0 when idle. */
  readonly turn: number;
  readonly pendingToolCalls: readonly PendingToolCall[];
  /** Present while a call waits for a worker of the session's workspace. */
  readonly awaitedWorkspace?: AwaitedWorkspace;
  readonly queues: {
    readonly steering: readonly QueuedMessageSummary[];
    readonly followUp: readonly QueuedMessageSummary[];
    /** Counts, as long lists are cut in this answer. */
    readonly steeringLength: number;
    readonly followUpLength: number;
  };
  readonly pendingApprovals: readonly {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly args: string;
  }[];
  readonly usage: Usage;
  readonly lastError?: string;
  readonly transcriptLength: number;
  readonly undelivered: readonly QueuedMessageSummary[];
}

/** In the argument of signals, queries and the update: which agent of the workflow is meant. */
export interface Addressed {
  /** Default: the one that was created first. */
  readonly agent?: string;
}

/** Argument of the `messages` query. */
export interface MessagesQuery extends Addressed {
  /** Index of the first message wanted. Default 0. */
  readonly from?: number;
  /** At most so many messages. Default: what fits. */
  readonly limit?: number;
  /** Where in the JSON text of message `from` to go on, as a slice's `next` says. */
  readonly offset?: number;
}

/**
 * Answer of the `messages` query. A message too large for a page comes alone, as `slice`s of its JSON
 * text. `next` is the argument that gets what follows; absent at the end.
 */
export interface MessagesPage {
  readonly messages: readonly Message[];
  readonly slice?: { readonly index: number; readonly offset: number; readonly text: string };
  /** Messages in the transcript. */
  readonly length: number;
  readonly next?: MessagesQuery;
}

/** Argument of the `context` query: the digest of a system prompt, tool list or call's arguments. */
export interface ContextQuery {
  readonly digest: string;
  readonly offset?: number;
}

/** Answer of the `context` query: a slice of the value's JSON text; without `next` it is the last. */
export interface ContextPage {
  readonly text: string;
  readonly next?: ContextQuery;
}
