// Three clocks over one model call: until the first token, between tokens, and over the whole call. The
// client's own time-out ends with the response's headers, so a stream that stalls would never end.

import type { ModelClocks } from '../definitions.js';
import { ModelProblem } from './model-problem.js';

export interface Watchdog extends Disposable {
  /** Aborts when a clock runs out or the call is cancelled. */
  readonly signal: AbortSignal;
  /** What ran out; undefined while none did. */
  readonly expired: ModelProblem | undefined;
  /** A token has come: text, reasoning, part of a call or the finish reason. */
  token(): void;
}

/** Starts the clocks. `cancellation` closes the request as well, without being a problem. */
export function startWatchdog(clocks: ModelClocks, cancellation: AbortSignal): Watchdog {
  const controller = new AbortController();
  let expired: ModelProblem | undefined;
  const expire = (message: string) => {
    if (controller.signal.aborted) return;
    expired = new ModelProblem('unavailable', message);
    controller.abort();
  };
  const cancel = () => controller.abort();
  if (cancellation.aborted) cancel();
  cancellation.addEventListener('abort', cancel, { once: true });

  const call = setTimeout(
    () => expire(`The model call took longer than ${inSeconds(clocks.callMs)}.`),
    clocks.callMs,
  );
  let token = setTimeout(
    () => expire(`The model sent no first token within ${inSeconds(clocks.firstTokenMs)}.`),
    clocks.firstTokenMs,
  );
  let silence: NodeJS.Timeout | undefined;
  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    token() {
      if (silence !== undefined) {
        silence.refresh();
        return;
      }
      clearTimeout(token);
      silence = setTimeout(
        () => expire(`The model fell silent for ${inSeconds(clocks.silenceMs)} in mid-answer.`),
        clocks.silenceMs,
      );
      token = silence;
    },
    [Symbol.dispose]() {
      clearTimeout(call);
      clearTimeout(token);
      cancellation.removeEventListener('abort', cancel);
    },
  };
}

function inSeconds(milliseconds: number): string {
  return `${milliseconds / 1000} seconds`;
}
