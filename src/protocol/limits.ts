// Numbers that workflow, activities and client agree on. Sizes in bytes of UTF-8, times in the unit
// of their name. Where a server limit is the reason, it stands beside the number.

export const defaultLimits = {
  /** Turns of one agent run. */
  maxTurns: 200,
  /** Text of one tool result. */
  maxToolResultBytes: 50 * 1024,
  /** Base64 data of one image; a larger one becomes a text that says so. */
  maxImageBytes: 1024 * 1024,
} as const;

export const payloadLimits = {
  /** What one payload of ours may weigh; the server refuses 2 MiB, for ever. */
  maxPayloadBytes: 1_800_000,
  /** One page of a query. */
  maxPageBytes: 200_000,
  /** Content that an event of the `events` query carries itself; larger is read by `messages`. */
  maxEventContentBytes: 32_000,
  /** Arguments of a tool call that travel by value; larger ones by reference. */
  maxInlineArgumentsBytes: 2_048,
  /** What `prepareNextTurn` may put before the transcript. */
  maxPrependBytes: 64 * 1024,
  /** Tool result details, for people; larger ones are replaced by a note. */
  maxDetailsBytes: 32 * 1024,
  /** The answer inside the workflow's result; the whole of it is in the transcript. */
  maxResponseBytes: 64 * 1024,
} as const;

export const historyLimits = {
  /**
   * An agent run, and with it its session, ends before the server's 51,200 events: what one turn adds at the
   * most, and the 10,000 signals the server takes, still fit …
   */
  maxEvents: 38_000,
  /** … and before its 50 MiB. */
  maxBytes: 40_000_000,
  serverBytes: 50_000_000,
} as const;

export const inputLimits = {
  /** Messages of one prompt: a workflow digests each when it arrives, within one Workflow Task. */
  maxPromptMessages: 1_000,
  /** Messages of a transcript to start from, likewise. */
  maxTranscriptMessages: 10_000,
  /** Names of tools or servers to choose: they go on into the input of an activity. */
  maxNames: 500,
} as const;

export const queueLimits = {
  /** Ids of signals and updates that are remembered, so that the same id twice counts once. */
  rememberedIds: 1_000,
  /** Logged events that are kept for followers. */
  keptEvents: 20_000,
  /** Tool calls of one batch that run at the same time; the server allows 2,000 pending activities. */
  maxParallelCalls: 100,
  /** Calls of one answer that are executed: with hooks, each may take 18 events of history. */
  maxCallsOfAnswer: 256,
  /** References that travel by value; what leads to more is read from the workflow. */
  maxAddedReferences: 500,
} as const;

export const timeouts = {
  heartbeat: '4 seconds',
  /** Retried model calls and retryable tools give up after this. */
  retryHorizon: '6 hours',
  modelCall: '20 minutes',
  hook: '10 minutes',
  resolveAgent: '30 seconds',
  /** How long a run waits, once aborted, for activities that ignore the abort. */
  abortGiveUpMs: 10_000,
} as const;

/**
 * How a call on a named workspace is offered to its workers. A workflow cannot see whether an activity was
 * taken, only that it was not within a time: so a call is offered for a short window, after which the session
 * says that it waits, and again once a worker is there.
 */
export const workspaceWaits = {
  /** How long a call waits for a worker of its workspace, unless the config says otherwise. */
  waitMs: 10 * 60_000,
  /**
   * The first window. A polling worker takes a call within milliseconds; longer, and people would be told
   * `running` of what nobody runs.
   */
  firstWindowMs: 3_000,
  /** Each next window is longer, so that workers which are merely busy leave few history events. */
  windowGrowth: 4,
  /** What a worker has to answer that it is there. */
  reachMs: 10_000,
  /** A rest of the wait below this is no wait. */
  leastWaitMs: 500,
} as const;

/** Provider failures of one model call after which the next attempt is not made. */
export const maxModelAttempts = 6;
