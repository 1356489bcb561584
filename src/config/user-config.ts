// What people write in `holdfast.config.ts`. `resolveConfig` turns it into what a worker uses.

import type {
  AgentHooks,
  ModelQuirks,
  OwnActivities,
  ToolDefinition,
} from '../activities/definitions.js';
import type { ApprovalPolicy, ThinkingLevel } from '../protocol/agent-definition.js';
import type { JsonObject } from '../protocol/json.js';

/** Milliseconds, or a text such as `10 minutes`. */
export type Duration = string | number;

export interface ModelConfig {
  /** The provider's model id, e.g. `gpt-5-mini`. */
  readonly model: string;
  /** Default: OPENAI_BASE_URL, else `https://api.openai.com/v1`. */
  readonly baseURL?: string;
  /** The provider's name in messages. Default: the host of `baseURL`. */
  readonly provider?: string;
  /**
   * Name of the environment variable that holds the key, never the key. Default: OPENAI_API_KEY, unless
   * the model has a `baseURL` of its own: then none, so that no key goes to a server it is not for.
   */
  readonly apiKeyEnv?: string;
  /** Further headers: name → environment variable that holds its value. */
  readonly headersEnv?: { readonly [header: string]: string };
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** Further fields of the request, as the provider spells them. */
  readonly extraBody?: JsonObject;
  /** Dollars per million tokens; with them, usage has a cost. */
  readonly prices?: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  };
  /** Differences of OpenAI-compatible servers. */
  readonly quirks?: ModelQuirks;
  readonly clocks?: {
    /** From the request to its first token. Default 120 seconds. */
    readonly firstToken?: Duration;
    /** Between two tokens. Default 60 seconds. */
    readonly silence?: Duration;
    /** The whole call. Default, and the most: 20 minutes. */
    readonly call?: Duration;
  };
}

export interface AgentConfig {
  readonly systemPrompt?: string;
  /** Whether whoever starts the agent may replace the system prompt. Default true. */
  readonly allowSystemPrompt?: boolean;
  /** The model used when the input names none. Default: `default`, or the first it offers. */
  readonly model?: string;
  /** Models the input may choose. Default: all. */
  readonly models?: readonly string[];
  readonly thinkingLevel?: ThinkingLevel;
  /** Tools by name, in the order the model sees them. Default: all, built-in ones first. */
  readonly tools?: readonly string[];
  /** Per tool: `allow` (default), `ask` a person, or `deny`. */
  readonly approval?: { readonly [tool: string]: ApprovalPolicy };
  readonly hooks?: AgentHooks;
}

export interface WorkspaceConfig {
  /** A directory; relative to the config file. */
  readonly root: string;
}

/** All of it is optional. */
export interface UserConfig {
  /** Default: `default` from OPENAI_API_KEY, OPENAI_BASE_URL and HOLDFAST_MODEL. */
  readonly models?: { readonly [name: string]: ModelConfig };
  /** Default: `default`, with every tool. */
  readonly agents?: { readonly [name: string]: AgentConfig };
  /** Tools beside the built-in ones, made by `defineTool`. */
  readonly tools?: readonly ToolDefinition[];
  /** Not available in this version: anything but an empty object is refused. */
  readonly mcpServers?: { readonly [name: string]: unknown };
  /**
   * Default: `default`, the working directory. Any other name has a task queue of its own: its tools run only
   * on workers that declare it, which must share the directory. A worker that declares no `default` serves
   * nothing else.
   */
  readonly workspaces?: { readonly [name: string]: WorkspaceConfig };
  /**
   * How long a tool call waits for a worker of a named workspace, as said by the workers of the main task
   * queue. Default 10 minutes.
   */
  readonly workspaceWait?: Duration;
  /** Default `holdfast`. */
  readonly taskQueue?: string;
  /** The longest time-out a bash call may ask for. Default one hour. */
  readonly maxToolTimeout?: Duration;
  /** Bytes of transcripts a worker keeps in memory. Default 256 MB. */
  readonly cacheBytes?: number;
  /** How long activities may go on when the worker is told to stop. Default 30 seconds. */
  readonly shutdownGrace?: Duration;
  /** Names of further environment variables tools may see. */
  readonly toolEnvironment?: readonly string[];
  /** A file of workflows of one's own, made with `holdfast/workflow`: relative to the config file, or a URL. */
  readonly workflows?: string | URL;
  /** Activities for such workflows, by type. */
  readonly activities?: OwnActivities;
}

/** Types a config; it is validated when a worker loads it. */
export function defineConfig(config: UserConfig): UserConfig {
  return config;
}
