// Follows the agent to its end, shows it, and lets the demo wait for moments in it.

import type { AgentRun, FollowedEvent } from '../client/index.js';
import type { Screen } from './screen.js';

interface Wish {
  readonly isMet: (event: FollowedEvent) => boolean;
  readonly settle: (event: FollowedEvent | undefined) => void;
}

export class Watch {
  /** Resolves when the session has ended and everything of it was shown. */
  readonly ended: Promise<void>;
  readonly #wishes = new Set<Wish>();
  readonly #stop = new AbortController();
  #isOver = false;

  constructor(run: AgentRun, screen: Screen) {
    this.ended = this.#follow(run, screen);
    // Whoever awaits `ended` gets the error; until then it is nobody's.
    this.ended.catch(() => undefined);
  }

  /** The first event from now on that `isMet`; undefined when the session ends without one. */
  when(isMet: (event: FollowedEvent) => boolean): Promise<FollowedEvent | undefined> {
    if (this.#isOver) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#wishes.add({ isMet, settle: resolve }));
  }

  stop(): void {
    this.#stop.abort();
  }

  async #follow(run: AgentRun, screen: Screen): Promise<void> {
    try {
      for await (const event of run.events({ signal: this.#stop.signal })) {
        screen.event(event, run.workflowId);
        for (const wish of this.#wishes) {
          if (!wish.isMet(event)) continue;
          this.#wishes.delete(wish);
          wish.settle(event);
        }
      }
    } finally {
      this.#isOver = true;
      for (const { settle } of this.#wishes) settle(undefined);
    }
  }
}
