// Activities of someone's own workflows, served beside ours.

import type { OwnActivities } from './definitions.js';
import { agentActivityNames } from '../protocol/activities.js';
import { withWellFormedFailures } from './well-formed-failures.js';

/** Why activities cannot be served beside ours, in a sentence each. */
export function ownActivityProblems(activities: OwnActivities): readonly string[] {
  return agentActivityNames
    .filter((name) => Object.hasOwn(activities, name))
    .map(
      (name) => `activities.${name}: Holdfast has an activity of this name; give yours another.`,
    );
}

/** @throws Error when one has a name of ours */
export function toOwnActivities(activities: OwnActivities): OwnActivities {
  const [problem] = ownActivityProblems(activities);
  if (problem !== undefined) throw new Error(problem);
  return withWellFormedFailures(activities);
}
