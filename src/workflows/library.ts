// `holdfast/workflow`: what workflows of one's own are made with. All of it runs in Temporal's sandbox.

export { agent } from './agent.js';
export { createAgent } from './create-agent.js';
export type { AgentOptions } from './agent-options.js';
export type { AgentRunReport, ServeOptions, ServeReport, WorkflowAgent } from './workflow-agent.js';
export type {
  WorkflowHooks,
  WorkflowToolHookContext,
  WorkflowTurnHookContext,
} from './workflow-hooks.js';
export type {
  AfterToolCallResult,
  BeforeToolCallResult,
  PrepareNextTurnResult,
  ToolResult,
} from '../protocol/activities.js';
export { FailureType } from '../protocol/failure-types.js';
export { textOf, toolCallsOf } from '../protocol/messages.js';
export type {
  AssistantMessage,
  CustomMessage,
  ImageBlock,
  InputMessage,
  Message,
  StopReason,
  SummaryMessage,
  TextBlock,
  ThinkingBlock,
  ToolCall,
  ToolResultMessage,
  Usage,
  UserContent,
  UserMessage,
} from '../protocol/messages.js';
export type {
  AgentInput,
  AgentRunResult,
  AgentSessionResult,
  AgentState,
  MessageRange,
  PromptMessage,
  QueuedMessageSummary,
  ResponseMessage,
  RunLimits,
} from '../protocol/session.js';

// The loop by itself, for those who bring their own effects: no handlers, no activities, no transcript.
export { runAgentLoop } from './loop.js';
export type * from './loop-effects.js';
export type {
  ApprovalPolicy,
  ThinkingLevel,
  ToolEffects,
  ToolExecutionMode,
  ToolSpec,
} from '../protocol/agent-definition.js';
export type { AgentEvent } from '../protocol/events.js';
