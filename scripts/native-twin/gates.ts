// Holds the run in the middle of a model call or of a tool call, until it is let go.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isProcessAlive } from '../../src/demo/worker-process.js';
import type { Staging } from '../../src/demo/script.js';

interface Moment {
  readonly come: Promise<void>;
  readonly happen: () => void;
}

interface Hold {
  readonly reached: Moment;
  readonly released: Moment;
}

export class Gates {
  readonly #folder: string;
  readonly #modelCalls: ReadonlyMap<number, Hold>;
  readonly #commands: readonly number[];

  /** Model calls and commands are named by their turn. The folder is next to the workspace. */
  constructor(folder: string, modelCalls: readonly number[], commands: readonly number[]) {
    this.#folder = folder;
    this.#modelCalls = new Map(
      modelCalls.map((turn) => [turn, { reached: createMoment(), released: createMoment() }]),
    );
    this.#commands = commands;
  }

  get staging(): Staging {
    return {
      pause: (turn) => {
        const hold = this.#modelCalls.get(turn);
        hold?.reached.happen();
        return hold?.released.come;
      },
      command: (turn, command) =>
        this.#commands.includes(turn)
          ? `echo $$ > ${this.#began(turn)}; while [ ! -e ${this.#mayEnd(turn)} ]; do sleep 0.1; done; ${command}`
          : command,
    };
  }

  /** Resolves when the model has begun to answer. */
  async modelAnswers(turn: number): Promise<void> {
    await this.#modelCalls.get(turn)?.reached.come;
  }

  releaseModelCall(turn: number): void {
    this.#modelCalls.get(turn)?.released.happen();
  }

  /** Resolves when the command runs. */
  async commandRuns(turn: number): Promise<void> {
    for (;;) {
      const text = await readFile(this.#began(turn), 'utf8').catch(() => '');
      if (/^\d+\n$/.test(text) && (await isProcessAlive(Number(text)))) return;
      await sleep(50);
    }
  }

  async releaseCommand(turn: number): Promise<void> {
    await writeFile(this.#mayEnd(turn), '');
  }

  #began(turn: number): string {
    return join(this.#folder, `turn-${turn}-began`);
  }

  #mayEnd(turn: number): string {
    return join(this.#folder, `turn-${turn}-may-end`);
  }
}

function createMoment(): Moment {
  let resolveCome = () => {};
  const come = new Promise<void>((resolve) => (resolveCome = resolve));
  return { come, happen: resolveCome };
}
