// Types of the ApplicationFailures that cross a boundary: activity → workflow → client.

export const FailureType = {
  /** Workflow input that cannot be decoded, or a field that is unknown, ill-typed or not offered. Final. */
  InvalidInput: 'InvalidInput',
  /** The workflow's own failure when a run (lifetime `run`) ended in a model error. Final. */
  ModelError: 'ModelError',
  /** The workflow's own failure when a hook of a run (lifetime `run`) threw. Final. */
  HookError: 'HookError',
  /** A workflow of one's own asked for a run of an agent that is in one, is served or was closed. Final. */
  AgentNotIdle: 'AgentNotIdle',

  /** The provider gave no usable answer this time. Retried; final at the sixth time. */
  ModelUnavailable: 'ModelUnavailable',
  /** The provider refused the request: 4xx, quota, billing. Final. */
  ModelRequestRejected: 'ModelRequestRejected',
  /** The conversation is longer than the model's context. Final until compaction. */
  ContextLengthExceeded: 'ContextLengthExceeded',
  /** The answer is larger than a payload may be. Final. */
  ModelAnswerTooLarge: 'ModelAnswerTooLarge',

  /** The transcript could not be read from the workflow this time. Retried. */
  ConversationUnavailable: 'ConversationUnavailable',
  /**
   * The attempt was interrupted; another one belongs on another worker. Retried, but for a tool that must not
   * run twice: its outcome is unknown.
   */
  WorkerShuttingDown: 'WorkerShuttingDown',
  /** A hook of the worker's config threw. Final. */
  HookFailed: 'HookFailed',
} as const;

export type FailureType = (typeof FailureType)[keyof typeof FailureType];
