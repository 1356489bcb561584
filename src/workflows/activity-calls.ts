// How each activity is called: time-outs, retries, summary. All are cancelled with the run and awaited
// until they have ended, so that an abort sees what they had done.

import {
  ActivityCancellationType,
  ActivityFailure,
  TimeoutFailure,
  proxyActivities,
} from '@temporalio/workflow';
import type { ActivityOptions } from '@temporalio/workflow';
import type { AgentActivities } from '../protocol/activities.js';
import type { ToolSpec } from '../protocol/agent-definition.js';
import { FailureType } from '../protocol/failure-types.js';
import { cutUtf8 } from '../protocol/json.js';
import type { JsonObject } from '../protocol/json.js';
import { timeouts, workspaceWaits } from '../protocol/limits.js';

/** The server takes 400 bytes; a line is enough. */
const maxSummaryBytes = 160;

/** Beyond a tool's own time-out: the worker ends the call itself, and needs time to say so. */
const toolGraceMs = 30_000;

const common = {
  // Heartbeats come from a timer, so this finds a dead worker, not a stuck model or tool.
  heartbeatTimeout: timeouts.heartbeat,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} satisfies ActivityOptions;

function activities(options: ActivityOptions): AgentActivities {
  return proxyActivities<AgentActivities & Record<string, never>>({
    ...common,
    ...options,
  }) as AgentActivities;
}

/**
 * Where an activity goes, what it is called, how long it may wait there; nothing of it in the workflow `agent`,
 * unless it works in a named workspace.
 */
export type ActivityPlace = Pick<
  ActivityOptions,
  'taskQueue' | 'activityId' | 'scheduleToStartTimeout'
>;

export function agentResolver(agent: string, place: ActivityPlace): AgentActivities {
  return activities({
    ...place,
    summary: cutUtf8(`agent · ${agent}`, maxSummaryBytes),
    startToCloseTimeout: timeouts.resolveAgent,
    retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds' },
  });
}

/**
 * One policy for two kinds of failure: a lost worker is followed by another attempt after a second, without
 * end within six hours; provider failures set their own delay and become final at the sixth.
 */
export function modelCaller(summary: string, place: ActivityPlace): AgentActivities {
  return activities({
    ...place,
    summary: cutUtf8(summary, maxSummaryBytes),
    startToCloseTimeout: timeouts.modelCall,
    scheduleToCloseTimeout: timeouts.retryHorizon,
    retry: { initialInterval: '1 second', backoffCoefficient: 1 },
  });
}

/** A tool that must not run twice has one attempt; its outcome is unknown when the worker is lost. */
export function toolCaller(
  spec: ToolSpec,
  args: JsonObject,
  place: ActivityPlace,
): AgentActivities {
  const base = {
    ...place,
    summary: toolSummary(spec.name, args),
    startToCloseTimeout: spec.timeoutMs + toolGraceMs,
  };
  if (!isRetryable(spec)) return activities({ ...base, retry: { maximumAttempts: 1 } });
  return activities({
    ...base,
    scheduleToCloseTimeout: timeouts.retryHorizon,
    retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  });
}

/** Waits for a worker of a workspace. */
export function workspaceReacher(workspace: string, place: ActivityPlace): AgentActivities {
  return activities({
    ...place,
    summary: cutUtf8(`workspace · ${workspace}`, maxSummaryBytes),
    startToCloseTimeout: workspaceWaits.reachMs,
    retry: { maximumAttempts: 1 },
  });
}

/** The time-out of an activity that no worker took in time, where that is why it failed. */
export function lapseOf(error: unknown): TimeoutFailure | undefined {
  if (!(error instanceof ActivityFailure)) return undefined;
  const { cause } = error;
  const isLapse = cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';
  return isLapse ? cause : undefined;
}

export function isRetryable(spec: ToolSpec): boolean {
  return spec.effects !== 'non-idempotent';
}

/** Hooks may run again after a lost worker; what they throw is final. */
export function hookCaller(summary: string, place: ActivityPlace): AgentActivities {
  return activities({
    ...place,
    summary: cutUtf8(summary, maxSummaryBytes),
    startToCloseTimeout: timeouts.hook,
    scheduleToCloseTimeout: timeouts.retryHorizon,
    retry: {
      initialInterval: '1 second',
      backoffCoefficient: 2,
      maximumInterval: '30 seconds',
      nonRetryableErrorTypes: [FailureType.HookFailed],
    },
  });
}

/** `bash · npm test`: the tool and the first text among its arguments, on one line. */
export function toolSummary(name: string, args: JsonObject): string {
  const first = ['command', 'path', ...Object.keys(args)]
    .map((field) => args[field])
    .find((value) => typeof value === 'string' && value.trim() !== '');
  // More than enough for the line: an argument may be a whole file.
  const start = typeof first === 'string' ? first.trimStart().slice(0, 10 * maxSummaryBytes) : '';
  const text = start === '' ? '' : ` · ${start.replace(/\s+/g, ' ').trim()}`;
  return cutUtf8(`${name}${text}`, maxSummaryBytes);
}
