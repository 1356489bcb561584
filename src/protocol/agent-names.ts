// How agents are addressed that share a workflow: by names that also stand in the ids of their activities.

import { describe } from './text.js';

/** Between an agent's name and a number in the ids of its activities; no name has one. */
const separator = '#';

export function isAgentName(value: unknown): value is string {
  return typeof value === 'string' && /^\w[\w.:/@-]{0,99}$/.test(value);
}

export const agentNameRule = 'letters, digits and . : / @ _ - only, at most 100';

/** The id of an agent's activity, e.g. `reviewer#3`. */
export function toActivityId(agent: string, count: number): string {
  return `${agent}${separator}${count}`;
}

/** Whose activity it is; undefined for one of the workflow `agent`, or of the user's own. */
export function agentOfActivity(activityId: string): string | undefined {
  const end = activityId.lastIndexOf(separator);
  return end > 0 ? activityId.slice(0, end) : undefined;
}

const noSuchAgent = 'There is no agent named';

export function noSuchAgentText(asked: unknown, names: readonly string[]): string {
  return `${noSuchAgent} ${describe(asked)} in this workflow; its agents: ${names.join(', ')}.`;
}

/** Whether a query failed because the workflow has no agent of that name: no outage, a wrong name. */
export function saysNoSuchAgent(message: string): boolean {
  return message.includes(noSuchAgent);
}
