// What the demo has started and must stop again, whichever way it ends.

type Release = () => Promise<unknown>;

export class Belongings {
  readonly #releases: Release[] = [];
  #releasing: Promise<void> | undefined;

  /** `release` is called at the end, the last one first; at once when the end has come already. */
  add(release: Release): void {
    if (this.#releasing === undefined) this.#releases.push(release);
    else this.#releasing = this.#releasing.then(() => settle(release));
  }

  /** Releases everything, once; what fails does not keep the rest from being released. */
  async release(): Promise<void> {
    // Not before it is known that it has begun: the first release may add something.
    this.#releasing ??= Promise.resolve().then(() => this.#releaseAll());
    let releasing: Promise<void>;
    // What is added meanwhile belongs to it.
    do await (releasing = this.#releasing);
    while (releasing !== this.#releasing);
  }

  async #releaseAll(): Promise<void> {
    for (const release of this.#releases.toReversed()) await settle(release);
  }
}

async function settle(release: Release): Promise<void> {
  await release().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
  });
}
