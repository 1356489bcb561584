// What the demo shows: the agent's events as the command line prints them, and the demo's own steps between
// them. Keeps what was shown of each answer, so that it can be compared with the transcript.

import pc from 'picocolors';
import { EventPrinter } from '../cli/event-printer.js';
import { mayColour } from '../cli/terminal.js';
import type { FollowedEvent } from '../client/index.js';
import type { Check } from './checks.js';

export class Screen {
  /** Text of each answer as a reader has seen it, without what was started over. */
  readonly shown: string[] = [];
  readonly #colours = pc.createColors(mayColour(process.stdout.isTTY, process.env));
  readonly #began = Date.now();
  #printer: EventPrinter | undefined;
  #answer = '';

  /** A step of the demo's own. */
  step(text: string): void {
    const { bold, dim, cyan } = this.#colours;
    const time = `${((Date.now() - this.#began) / 1_000).toFixed(1)} s`.padStart(7);
    this.#write(`${this.#endLine()}${dim(time)} ${cyan('▸')} ${bold(text)}\n`);
  }

  /** A line as it stands. */
  line(text = ''): void {
    this.#write(`${this.#endLine()}${text}\n`);
  }

  event(event: FollowedEvent, workflowId: string): void {
    this.#printer ??= new EventPrinter({
      workflowId,
      columns: () => (process.stdout.isTTY ? process.stdout.columns : 110),
      colours: this.#colours,
      toolOutput: true,
    });
    this.#write(this.#printer.print(event));
    this.#remember(event);
  }

  table(checks: readonly Check[]): void {
    const { green, red, yellow, bold } = this.#colours;
    const marks = { holds: green('✓'), broken: red('✗'), unseen: yellow('–') };
    const width = Math.max(...checks.map(({ claim }) => claim.length));
    this.line(`\n${bold('What survived')}`);
    for (const { claim, verdict, figure } of checks) {
      this.line(`  ${marks[verdict]} ${claim.padEnd(width)}  ${figure}`);
    }
    this.line();
  }

  #remember(event: FollowedEvent): void {
    if (event.type === 'message_update') {
      this.#answer = (event.startsOver === true ? '' : this.#answer) + event.text;
    }
    if (event.type === 'message_end' && event.content?.role === 'assistant') {
      const before = event.startsOver === true ? '' : this.#answer;
      this.shown.push(before + (event.unshown ?? ''));
      this.#answer = '';
    }
  }

  #endLine(): string {
    return this.#printer?.finish() ?? '';
  }

  #write(text: string): void {
    process.stdout.write(text);
  }
}
