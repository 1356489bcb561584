// Reads the pending activities of a describe answer: attempts, failures, heartbeat details.

import type { LoadedDataConverter, Payload } from '@temporalio/common';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { agentOfActivity } from '../protocol/agent-names.js';
import { isJsonObject } from '../protocol/json.js';
import type { JsonObject } from '../protocol/json.js';
import type { LiveView, TailView } from '../protocol/live-views.js';
import type { PendingActivity } from './live-updates.js';

type DescribeResponse = WorkflowExecutionDescription['raw'];
type PendingActivityInfo = NonNullable<DescribeResponse['pendingActivities']>[number];

/** Heartbeat details that cannot be decoded are left out: what is shown live is a courtesy. */
export async function readPendingActivities(
  response: DescribeResponse,
  converter: LoadedDataConverter,
  now = Date.now(),
): Promise<PendingActivity[]> {
  const runId = response.workflowExecutionInfo?.execution?.runId ?? '';
  return Promise.all(
    (response.pendingActivities ?? []).map(async (info) => {
      const activityId = info.activityId ?? '';
      const view = await readView(info, converter);
      const reason = failureReason(info);
      const delayMs = delayOf(info, now);
      const agent = agentOfActivity(activityId);
      return {
        key: `${runId}/${activityId}`,
        activityId,
        ...(agent === undefined ? {} : { agent }),
        attempt: info.attempt ?? 1,
        ...(reason === undefined ? {} : { lastFailure: reason }),
        ...(delayMs === undefined ? {} : { delayMs }),
        ...(view === undefined ? {} : { view }),
      };
    }),
  );
}

async function readView(
  { heartbeatDetails }: PendingActivityInfo,
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
): Promise<LiveView | undefined> {
  let payloads: Payload[] = [...(heartbeatDetails?.payloads ?? [])];
  if (payloads.length === 0) return undefined;
  try {
    for (const codec of [...payloadCodecs].reverse()) payloads = await codec.decode(payloads);
    const [payload] = payloads;
    return payload === undefined ? undefined : toLiveView(payloadConverter.fromPayload(payload));
  } catch {
    return undefined;
  }
}

/** A view as activities write it, or undefined for anything else. */
function toLiveView(value: unknown): LiveView | undefined {
  if (!isJsonObject(value) || typeof value['attempt'] !== 'number') return undefined;
  const isWhole =
    value['kind'] === 'model'
      ? isTail(value['text']) && isTail(value['thinking'])
      : value['kind'] === 'tool' && isTail(value['output']);
  return isWhole ? (value as JsonObject & LiveView) : undefined;
}

function isTail(value: unknown): value is TailView {
  return (
    isJsonObject(value) && typeof value['offset'] === 'number' && typeof value['tail'] === 'string'
  );
}

function failureReason({ lastFailure }: PendingActivityInfo): string | undefined {
  if (lastFailure == null) return undefined;
  if (lastFailure.timeoutFailureInfo != null) return 'its worker was lost or took too long';
  return lastFailure.message ?? undefined;
}

function delayOf(
  { nextAttemptScheduleTime }: PendingActivityInfo,
  now: number,
): number | undefined {
  if (nextAttemptScheduleTime?.seconds == null) return undefined;
  const at =
    Number(nextAttemptScheduleTime.seconds) * 1_000 + (nextAttemptScheduleTime.nanos ?? 0) / 1e6;
  return Math.max(0, Math.round(at - now));
}
