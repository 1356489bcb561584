// What a worker's config says of an agent, as resolved at the start of an agent run and recorded in
// history. Names and texts only: functions, URLs, commands and keys stay on the worker.

import type { JsonObject } from './json.js';

export const thinkingLevels = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ThinkingLevel = (typeof thinkingLevels)[number];

export type ToolExecutionMode = 'sequential' | 'parallel';

/**
 * What running a tool twice would do. `read-only` and `idempotent` tools are retried after a lost
 * worker; a `non-idempotent` tool has one attempt.
 */
export type ToolEffects = 'read-only' | 'idempotent' | 'non-idempotent';

export type ApprovalPolicy = 'allow' | 'ask' | 'deny';

export interface ToolSpec {
  readonly name: string;
  /** What people see; the name when absent. */
  readonly label?: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: JsonObject;
  readonly executionMode: ToolExecutionMode;
  readonly effects: ToolEffects;
  /** The longest the worker lets one call run. */
  readonly timeoutMs: number;
  readonly approval: ApprovalPolicy;
}

export const hookNames = [
  'transformContext',
  'convertToLlm',
  'getApiKey',
  'beforeToolCall',
  'afterToolCall',
  'prepareNextTurn',
  'shouldStopAfterTurn',
] as const;
export type HookName = (typeof hookNames)[number];

export interface ResolvedModel {
  /** The provider's model id. */
  readonly model: string;
  /** The provider's name in messages. */
  readonly provider: string;
}

export interface ResolvedAgent {
  readonly name: string;
  /** The text of the definition; absent when the input replaces it or there is none. */
  readonly systemPrompt?: string;
  /** The name of the chosen model. */
  readonly model: string;
  /** Models this agent may use, by name. */
  readonly models: { readonly [name: string]: ResolvedModel };
  readonly thinkingLevel?: ThinkingLevel;
  readonly tools: readonly ToolSpec[];
  /** Hooks the definition has; only these are scheduled. */
  readonly hooks: readonly HookName[];
  /** How long a call waits for a worker of a named workspace, where the config says another time than the default. */
  readonly workspaceWaitMs?: number;
}
