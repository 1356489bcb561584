// What changes faster than history should grow: shown in heartbeat details, never logged. A follower
// reads them from the pending activities of a describe call.

/** The last part of a growing text: `offset` UTF-16 units came before `tail`. */
export interface TailView {
  readonly offset: number;
  readonly tail: string;
}

/** Bytes of UTF-8 a tail may have. */
export const maxTailBytes = 8 * 1024;

/** Heartbeat details of `completeChat`. */
export interface ModelProgress {
  readonly kind: 'model';
  readonly turn: number;
  /** Temporal's attempt; a follower starts over when it changes. */
  readonly attempt: number;
  readonly text: TailView;
  readonly thinking: TailView;
  /** Provider failures so far, in all attempts: the sixth is final. */
  readonly providerFailures: number;
  /** The last provider failure, while its retry is awaited. */
  readonly retry?: { readonly reason: string; readonly delayMs: number };
}

/** Heartbeat details of `callTool`. */
export interface ToolProgress {
  readonly kind: 'tool';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly attempt: number;
  readonly output: TailView;
}

export type LiveView = ModelProgress | ToolProgress;
