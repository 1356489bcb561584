// Turns what heartbeats show, a growing text's last part again and again, into what is new since the
// last look. Pure: knows views and attempts, nothing of Temporal.

import type { LiveView, ModelProgress, TailView, ToolProgress } from '../protocol/live-views.js';
import { textOf } from '../protocol/messages.js';
import type { AssistantMessage } from '../protocol/messages.js';
import type { LiveEvent } from './followed-events.js';

/** A pending activity as describe shows it. */
export interface PendingActivity {
  /** Unique in the chain of runs. */
  readonly key: string;
  readonly activityId: string;
  /** Whose it is, in a workflow of one's own. */
  readonly agent?: string;
  /** The attempt under way, or the one awaited. */
  readonly attempt: number;
  readonly lastFailure?: string;
  /** Milliseconds until the awaited attempt. */
  readonly delayMs?: number;
  /** The latest heartbeat; may be one of an earlier attempt. */
  readonly view?: LiveView;
}

/** How far a text has been shown. */
interface Shown {
  readonly end: number;
  /** What was shown last, up to `end`. */
  readonly tail: string;
}

const nothingShown: Shown = { end: 0, tail: '' };

interface Activity {
  attempt: number;
  /** The attempt whose updates were shown last. */
  shownAttempt: number | undefined;
  text: Shown;
  thinking: Shown;
}

export class LiveUpdates {
  readonly #activities = new Map<string, Activity>();
  /** The model call whose message has not ended yet. */
  #model: Activity | undefined;

  /**
   * What is new in these activities. A view of an attempt that is already over is ignored, so that a
   * retry's notice is the last word on it.
   */
  update(pending: readonly PendingActivity[]): LiveEvent[] {
    const events: LiveEvent[] = [];
    const keys = new Set(pending.map(({ key }) => key));
    for (const key of this.#activities.keys()) if (!keys.has(key)) this.#activities.delete(key);
    for (const activity of pending) events.push(...this.#updateOne(activity));
    return events;
  }

  /** Call at an assistant's `message_end`. */
  messageEnded(message: AssistantMessage): { unshown: string; startsOver?: true } {
    const text = textOf(message.content);
    const shown = this.#model?.shownAttempt === undefined ? nothingShown : this.#model.text;
    this.#model = undefined;
    const unshown = textAfter(text, shown) ?? textAfter(joined(message), shown);
    return unshown === undefined ? { unshown: text, startsOver: true } : { unshown };
  }

  #updateOne(pending: PendingActivity): LiveEvent[] {
    const { key, activityId, attempt, view } = pending;
    let activity = this.#activities.get(key);
    if (activity === undefined) {
      activity = {
        attempt: 1,
        shownAttempt: undefined,
        text: nothingShown,
        thinking: nothingShown,
      };
      this.#activities.set(key, activity);
    }
    const events: LiveEvent[] = [];
    if (attempt > activity.attempt) {
      activity.attempt = attempt;
      const reason = retryReason(pending);
      const delay = pending.delayMs === undefined ? {} : { delayMs: pending.delayMs };
      events.push({ type: 'retry', activityId, attempt, reason, ...delay });
    }
    if (view === undefined || view.attempt !== attempt) return events;
    if (view.kind === 'model') this.#model = activity;
    const update =
      view.kind === 'model'
        ? modelUpdate(activity, activityId, view)
        : toolUpdate(activity, activityId, view);
    if (update !== undefined) events.push(update);
    return events;
  }
}

function retryReason({ view, lastFailure }: PendingActivity): string {
  if (view?.kind === 'model' && view.retry !== undefined) return view.retry.reason;
  return lastFailure ?? 'unknown';
}

function modelUpdate(activity: Activity, activityId: string, view: ModelProgress) {
  const startsOver = startOver(activity, view.attempt, view.text, view.thinking);
  const text = advance(activity.text, view.text);
  const thinking = advance(activity.thinking, view.thinking);
  if (text.fresh === '' && thinking.fresh === '' && startsOver === undefined) return undefined;
  activity.text = text.shown;
  activity.thinking = thinking.shown;
  activity.shownAttempt = view.attempt;
  return {
    type: 'message_update' as const,
    activityId,
    attempt: view.attempt,
    turn: view.turn,
    text: text.fresh,
    thinking: thinking.fresh,
    ...startsOver,
    ...skippedOf(text.skipped),
  };
}

function toolUpdate(activity: Activity, activityId: string, view: ToolProgress) {
  const startsOver = startOver(activity, view.attempt, view.output);
  const output = advance(activity.text, view.output);
  if (output.fresh === '' && startsOver === undefined) return undefined;
  activity.text = output.shown;
  activity.shownAttempt = view.attempt;
  return {
    type: 'tool_execution_update' as const,
    activityId,
    toolCallId: view.toolCallId,
    toolName: view.toolName,
    attempt: view.attempt,
    partialResult: output.fresh,
    ...startsOver,
    ...skippedOf(output.skipped),
  };
}

/** Forgets what another attempt showed, once this one has something to show. */
function startOver(activity: Activity, attempt: number, ...views: readonly TailView[]) {
  if (activity.shownAttempt === undefined || activity.shownAttempt === attempt) return undefined;
  if (views.every((view) => endOf(view) === 0)) return undefined;
  activity.text = nothingShown;
  activity.thinking = nothingShown;
  return { startsOver: true as const };
}

function advance(shown: Shown, view: TailView) {
  const end = endOf(view);
  if (end <= shown.end) return { fresh: '', skipped: 0, shown };
  const skipped = Math.max(0, view.offset - shown.end);
  const fresh = view.tail.slice(Math.max(0, shown.end - view.offset));
  return { fresh, skipped, shown: { end, tail: view.tail } };
}

function endOf({ offset, tail }: TailView): number {
  return offset + tail.length;
}

function skippedOf(skipped: number) {
  return skipped === 0 ? {} : { skipped };
}

/**
 * What of `text` comes after `shown`, or undefined when `shown` was of another text. White space shown
 * after the end of the text does not count: the message may have been trimmed.
 */
function textAfter(text: string, { end, tail }: Shown): string | undefined {
  const kept = Math.min(tail.length, tail.length - (end - text.length));
  if (kept < 0 || tail.slice(kept).trim() !== '') return undefined;
  const shownEnd = Math.min(end, text.length);
  return text.slice(shownEnd - kept, shownEnd) === tail.slice(0, kept)
    ? text.slice(shownEnd)
    : undefined;
}

/** The text as it streamed, if the provider sent it in several blocks. */
function joined({ content }: AssistantMessage): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
