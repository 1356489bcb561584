// When and why a tool's signal aborts, as the signal's reason says it.

export type StopCause =
  /** A person aborted the run. */
  | 'abort'
  /** The tool's time is up. */
  | 'timeout'
  /** The worker shuts down, or this attempt is over for another reason. */
  | 'interrupted';

/** The longest a timer can be set to; what is longer would fire at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** The reason of the signal that a tool gets: an `AbortError` that knows its cause. */
export class ToolStopped extends Error {
  override readonly name = 'AbortError';
  readonly stopCause: StopCause;

  constructor(stopCause: StopCause, message: string) {
    super(message);
    this.stopCause = stopCause;
  }
}

/** `abort` for signals that do not come from `callTool`. */
export function stopCauseOf(signal: AbortSignal): StopCause {
  return signal.reason instanceof ToolStopped ? signal.reason.stopCause : 'abort';
}
