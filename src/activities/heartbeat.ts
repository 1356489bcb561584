// Heartbeats from a timer that carries the latest progress. Cancellation reaches an activity only through
// heartbeats, so the interval bounds how late an abort is noticed; short activities send none.

import { Context } from '@temporalio/activity';
import type { LiveView } from '../protocol/live-views.js';

const firstAfterMs = 200;
const everyMs = 250;

export interface Heartbeat extends Disposable {
  /** The details of the next heartbeats; a function is asked at each of them. */
  show(details: LiveView | (() => LiveView)): void;
  /** Sends these details now: for what the next attempt must know. */
  flush(details: LiveView): void;
}

/** Starts beating for the present activity, until disposed of. */
export function startHeartbeat(): Heartbeat {
  const context = Context.current();
  let latest: LiveView | (() => LiveView) | undefined;
  const beat = () => context.heartbeat(typeof latest === 'function' ? latest() : latest);
  let interval: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    beat();
    interval = setInterval(beat, everyMs);
  }, firstAfterMs);
  return {
    show(details) {
      latest = details;
    },
    flush(details) {
      latest = details;
      beat();
    },
    [Symbol.dispose]() {
      clearTimeout(first);
      clearInterval(interval);
    },
  };
}
