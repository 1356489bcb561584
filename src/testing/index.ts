// The door `holdfast/testing`: what people test their own agents with. It knows no test framework.

export { createTestEnvironment } from './environment.js';
export type { TestEnvironment, TestEnvironmentOptions } from './environment.js';
export type { TestServerOptions } from './test-server-options.js';
export { findViolations } from './invariants.js';
export { recordSession } from './record-session.js';
export type { RecordedRun } from './record-session.js';
export type { SentInput, SessionRecord } from './session-record.js';
export { chunk, reply, startScriptedModel, step } from './scripted-model.js';
export type {
  RawPart,
  ReplyFunction,
  ReplyStep,
  Script,
  ScriptedAnswer,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptedReply,
  ScriptedRequest,
  ScriptedRequestBody,
  ScriptedToolCall,
} from './scripted-model.js';
