// The package's front door: start and follow agents, write configs and tools.

export {
  AgentClient,
  AgentClientError,
  AgentRun,
  AgentRunError,
  InvalidAgentInput,
  isLoggedEvent,
  MessageTooLarge,
  proposeWorkflowId,
  ServerUnreachable,
  SessionEnded,
  SessionNotFound,
  WorkerUnreachable,
  WorkflowIdInUse,
} from './client/index.js';
export type {
  AgentClientOptions,
  AgentResult,
  AgentRunFailure,
  AgentSummary,
  ApprovalAnswer,
  CloseStatus,
  FollowedEvent,
  FollowedLoggedEvent,
  FollowerNotice,
  FollowOptions,
  GetOptions,
  InputOptions,
  ListOptions,
  LiveEvent,
  MessageInput,
  MessageUpdate,
  RetryNotice,
  ServerOptions,
  StartOptions,
  SubmitOptions,
  ToolExecutionUpdate,
} from './client/index.js';
export { ConfigError, defineConfig, defineTool } from './config/index.js';
export type {
  AgentConfig,
  ModelConfig,
  ToolOptions,
  UserConfig,
  WorkspaceConfig,
  ZodSchema,
} from './config/index.js';
export type {
  AgentHooks,
  ModelHookContext,
  OwnActivities,
  ToolContext,
  ToolDefinition,
  ToolHookContext,
  ToolOutput,
  TurnHookContext,
} from './activities/definitions.js';
export type { ThinkingLevel, ToolEffects, ToolExecutionMode } from './protocol/agent-definition.js';
export { FailureType } from './protocol/failure-types.js';
export type { ReportedEvent, SignalKind } from './protocol/events.js';
export type { SubmitOutcome } from './protocol/handlers.js';
export type {
  AssistantMessage,
  ImageBlock,
  InputMessage,
  Message,
  TextBlock,
  ToolCall,
  Usage,
  UserContent,
} from './protocol/messages.js';
export type {
  AgentInput,
  AgentRunResult,
  AgentSessionResult,
  AgentState,
  Lifetime,
  ResponseMessage,
} from './protocol/session.js';
