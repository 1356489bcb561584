// Waits no longer than it should take, and tells where the run stands when it takes longer.

import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentClient } from '../../src/client/index.js';

const patienceMs = 120_000;

/** @throws when it takes longer, with what the server says of the run */
export async function inTime<T>(
  what: string,
  part: Promise<T>,
  client: AgentClient,
  workflowId: string,
): Promise<T> {
  const timer = new AbortController();
  const late = sleep(patienceMs, 'late' as const, timer);
  try {
    const first = await Promise.race([part, late]);
    if (first !== 'late') return first;
  } finally {
    late.catch(() => undefined);
    timer.abort();
  }
  const state = await whereItStands(client, workflowId).catch(String);
  throw new Error(`${what}: not within ${patienceMs / 1_000} s. ${state}`);
}

async function whereItStands(client: AgentClient, workflowId: string): Promise<string> {
  const handle = client.temporal.workflow.getHandle(workflowId);
  const { raw, status, historyLength } = await handle.describe();
  const activities = (raw.pendingActivities ?? []).map((activity) => JSON.stringify(activity));
  const task = JSON.stringify(raw.pendingWorkflowTask ?? 'no workflow task');
  return [
    `The workflow is ${status.name} at ${historyLength} history events.`,
    `Pending: ${task}`,
    ...activities,
  ].join('\n');
}
