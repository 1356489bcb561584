// Random choices that a seed repeats exactly.

export interface Random {
  /** An integer from 0 to `below` - 1. */
  readonly below: (below: number) => number;
  /** True with this probability. */
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(items: readonly T[]) => T;
}

/** mulberry32: small, and good enough to shuffle test scripts. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (items) => {
      if (items.length === 0) throw new Error('nothing to pick from');
      return items[below(items.length)] as (typeof items)[number];
    },
  };
}
