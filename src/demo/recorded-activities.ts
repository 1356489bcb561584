// Reads the activities of a workflow from its history: what was called, in which attempt it ended, when
// that attempt began.

import type { WorkflowHandle } from '@temporalio/client';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

export interface RecordedActivity {
  readonly type: string;
  /** As the Web UI shows it, e.g. `turn 2 · gpt-5-mini`. */
  readonly summary: string;
  /** The last attempt; the server records only that. */
  readonly attempt: number;
  /** When the last attempt began, in milliseconds since the epoch. */
  readonly startedAt: number;
}

export function recordedActivities({ events }: History): readonly RecordedActivity[] {
  const scheduled = new Map<string, { readonly type: string; readonly summary: string }>();
  const activities: RecordedActivity[] = [];
  for (const event of events ?? []) {
    const {
      activityTaskScheduledEventAttributes: call,
      activityTaskStartedEventAttributes: start,
    } = event;
    if (call != null) {
      const type = call.activityType?.name ?? '';
      const summary = textOf(event.userMetadata?.summary?.data) ?? type;
      scheduled.set(String(event.eventId), { type, summary });
    }
    if (start == null) continue;
    const found = scheduled.get(String(start.scheduledEventId));
    if (found === undefined) continue;
    const { seconds, nanos } = event.eventTime ?? {};
    const startedAt = Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1e6;
    activities.push({ ...found, attempt: start.attempt ?? 1, startedAt });
  }
  return activities;
}

function textOf(data: Uint8Array | null | undefined): string | undefined {
  if (data == null) return undefined;
  const value: unknown = JSON.parse(new TextDecoder().decode(data));
  return typeof value === 'string' ? value : undefined;
}
