// The ids that inputs carried, and what became of each, so that the same id twice counts once. Bounded:
// a long session forgets its oldest ids.

import type { SubmitOutcome } from '../protocol/handlers.js';
import { queueLimits } from '../protocol/limits.js';

/** What became of an input when its id was first seen. */
export type FirstOutcome = Exclude<SubmitOutcome, { outcome: 'duplicate' }>;

export interface RememberedIds {
  /** What became of the first input with this id; undefined when it is new or forgotten. */
  readonly outcomeOf: (id: string) => FirstOutcome | undefined;
  /** Remembers a new id and forgets the oldest beyond the capacity. A known id keeps its first outcome. */
  readonly remember: (id: string, outcome: FirstOutcome) => void;
  /** All of it, the oldest first: what is carried into a new Workflow Run. */
  readonly entries: () => readonly (readonly [id: string, outcome: FirstOutcome])[];
}

export function createRememberedIds(
  carried: Iterable<readonly [id: string, outcome: FirstOutcome]> = [],
  capacity: number = queueLimits.rememberedIds,
): RememberedIds {
  // A Map iterates in the order of insertion: its first key is the oldest.
  const outcomes = new Map<string, FirstOutcome>();
  const remember = (id: string, outcome: FirstOutcome) => {
    if (outcomes.has(id)) return;
    outcomes.set(id, outcome);
    if (outcomes.size <= capacity) return;
    for (const oldest of outcomes.keys()) {
      outcomes.delete(oldest);
      break;
    }
  };
  for (const [id, outcome] of carried) remember(id, outcome);
  return {
    outcomeOf: (id) => outcomes.get(id),
    remember,
    entries: () => [...outcomes],
  };
}
