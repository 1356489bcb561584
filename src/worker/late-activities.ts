// The activities of a worker, loaded while its workflow sandbox starts in a thread of its own: the two take
// most of a worker's start.

import type { ActivityDependencies } from '../activities/index.js';
import type { AgentActivities } from '../protocol/activities.js';

export interface LateActivities {
  /** Can be registered at once; a call waits until they are loaded. */
  readonly activities: AgentActivities;
  /** Rejects when they cannot be loaded. */
  readonly loaded: Promise<unknown>;
}

export function loadActivities(dependencies: ActivityDependencies): LateActivities {
  const loaded = import('../activities/index.js').then(({ createActivities }) =>
    createActivities(dependencies),
  );
  // Whoever created the worker hears of it; until then it is not a rejection that nobody looks at.
  loaded.catch(() => {});
  return {
    activities: {
      resolveAgent: async (input) => (await loaded).resolveAgent(input),
      reachWorkspace: async () => (await loaded).reachWorkspace(),
      completeChat: async (input) => (await loaded).completeChat(input),
      callTool: async (input) => (await loaded).callTool(input),
      beforeToolCall: async (input) => (await loaded).beforeToolCall(input),
      afterToolCall: async (input) => (await loaded).afterToolCall(input),
      prepareNextTurn: async (input) => (await loaded).prepareNextTurn(input),
      shouldStopAfterTurn: async (input) => (await loaded).shouldStopAfterTurn(input),
    },
    loaded,
  };
}
