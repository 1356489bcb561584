// The client as the package's other parts and its users see it.

export { AgentClient } from './agent-client.js';
export type {
  AgentClientOptions,
  AgentSummary,
  GetOptions,
  ListOptions,
  StartOptions,
} from './agent-client.js';
export { AgentRun } from './agent-run.js';
export type { AgentResult, SubmitOptions } from './agent-run.js';
export { serverSettings, toConnectError } from './connection.js';
export type { ServerOptions, ServerSettings } from './connection.js';
export * from './errors.js';
export { isLoggedEvent } from './followed-events.js';
export type {
  CloseStatus,
  FollowedEvent,
  FollowedLoggedEvent,
  FollowerNotice,
  LiveEvent,
  MessageUpdate,
  RetryNotice,
  ToolExecutionUpdate,
} from './followed-events.js';
export type { FollowOptions } from './follower.js';
export type { ApprovalAnswer, InputOptions, MessageInput } from './inputs.js';
export { proposeWorkflowId } from './workflow-id.js';
