// Whether this process was stopped for a while: by SIGSTOP, with its virtual machine, or as a laptop that slept.
// A task that had reached it by then begins when it wakes, although the server gave the attempt up long
// ago, told the workflow so, and may have given the call to another worker.

import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '@temporalio/activity';

const tickMs = 250;
/** A gap that no busy process has; well below the heartbeat time-out, after which an attempt is given up. */
const stoppedMs = 2_500;
/** So long after it woke, what begins may have been waiting. */
const doubtfulMs = 5_000;
/** What the server has to answer a heartbeat: that the attempt is known, or that it is not. */
const answerMs = 1_000;

export class SuspensionWatch {
  #lastTick: number;
  #wokenAt = -Infinity;

  constructor(now: number = Date.now()) {
    this.#lastTick = now;
  }

  /** Called every `tickMs` for as long as the process runs. */
  tick(now: number = Date.now()): void {
    if (now - this.#lastTick > stoppedMs) this.#wokenAt = now;
    this.#lastTick = now;
  }

  /** Whether what begins now may have been delivered before a stop. */
  isDoubtful(now: number = Date.now()): boolean {
    // The task may come before the tick that would have noticed.
    return now - this.#lastTick > stoppedMs || now - this.#wokenAt < doubtfulMs;
  }
}

let watch: SuspensionWatch | undefined;

/** The process's watch; it begins with the first call. */
export function suspensionWatch(): SuspensionWatch {
  if (watch === undefined) {
    const started = new SuspensionWatch();
    setInterval(() => started.tick(), tickMs).unref();
    watch = started;
  }
  return watch;
}

/**
 * Where the process was stopped, asks the server by a heartbeat whether this attempt still counts: the signal of
 * `context` is aborted if not. A server that cannot be reached in that moment says nothing.
 */
export async function confirmAttempt(
  context: Context,
  beat: () => void,
  { isDoubtful }: { readonly isDoubtful: boolean },
): Promise<void> {
  if (!isDoubtful) return;
  beat();
  await delay(answerMs, undefined, { signal: context.cancellationSignal }).catch(() => {});
}
