// What ends an agent run although more is left to do.

import type { LoopEffects, LoopLimits } from './loop-effects.js';

/** Cut-off answers in a row after which the model is not asked again. */
const maxTruncatedAnswers = 5;

/** What a run has used so far. */
export interface RunUse {
  readonly turns: number;
  /** Tokens of model calls, and those that tools reported. */
  readonly tokens: number;
  /** Answers in a row, up to the present one, that the output limit cut off inside their calls. */
  readonly truncatedAnswers: number;
}

export interface ReachedLimit {
  readonly limit: string;
  readonly value: number;
}

/** The limit that forbids a further turn. */
export function reachedLimit(
  use: RunUse,
  limits: LoopLimits,
  effects: LoopEffects,
): ReachedLimit | undefined {
  const { maxTurns, maxTotalTokens } = limits;
  if (use.truncatedAnswers >= maxTruncatedAnswers) {
    return { limit: 'truncatedAnswers', value: maxTruncatedAnswers };
  }
  if (use.turns >= maxTurns) return { limit: 'maxTurns', value: maxTurns };
  if (maxTotalTokens !== undefined && use.tokens >= maxTotalTokens) {
    return { limit: 'maxTotalTokens', value: maxTotalTokens };
  }
  return effects.exhaustedLimit();
}
