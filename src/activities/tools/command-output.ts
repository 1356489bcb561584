// A command's output while it runs: redacted, shown live, its end kept for the result, and all of it in a
// file once it is longer than a result may be. Memory is bounded, however much is written.

import { cutUtf8 } from '../../protocol/json.js';
import type { RedactingStream } from '../secrets.js';
import type { OutputFile } from './output-file.js';
import { sizeText } from './tool-arguments.js';

export interface CommandOutputOptions {
  readonly maxBytes: number;
  readonly redacting: RedactingStream;
  readonly show: (text: string) => void;
  /** Called when the output becomes too long; a throw means that there is no file. */
  readonly createFile: () => Promise<OutputFile>;
}

export interface CollectedOutput {
  /** All of it, or a line that says what is missing and the end. */
  readonly text: string;
  /** Bytes in all. */
  readonly bytes: number;
  /** Path of the file, where there is one. */
  readonly file?: string;
}

/** Room that the line about what is missing takes. */
const noteBytes = 300;

export class CommandOutput {
  readonly #options: CommandOutputOptions;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #kept = '';
  #bytes = 0;
  #overflowed = false;
  #file: OutputFile | undefined;

  constructor(options: CommandOutputOptions) {
    this.#options = options;
  }

  async write(piece: Uint8Array): Promise<void> {
    const text = this.#decoder.decode(piece, { stream: true });
    await this.#take(this.#options.redacting.push(text));
  }

  async end(): Promise<CollectedOutput> {
    await this.#take(this.#options.redacting.push(this.#decoder.decode()));
    await this.#take(this.#options.redacting.end());
    const file = this.#file;
    await file?.close();
    if (!this.#overflowed) return { text: this.#kept, bytes: this.#bytes };
    const tail = wholeLines(cutUtf8(this.#kept, this.#tailBytes, true));
    const note = this.#note(this.#bytes - Buffer.byteLength(tail));
    return {
      text: `${note}\n${tail}`,
      bytes: this.#bytes,
      ...(file === undefined ? {} : { file: file.path }),
    };
  }

  get #tailBytes(): number {
    const { maxBytes } = this.#options;
    return Math.max(maxBytes - noteBytes, Math.ceil(maxBytes / 2));
  }

  async #take(text: string): Promise<void> {
    if (text === '') return;
    this.#options.show(text);
    const { maxBytes } = this.#options;
    this.#bytes += Buffer.byteLength(text);
    this.#kept += text;
    if (!this.#overflowed && this.#bytes > maxBytes) {
      this.#overflowed = true;
      this.#file = await this.#options.createFile().catch(() => undefined);
      await this.#append(this.#kept);
    } else if (this.#overflowed) await this.#append(text);
    // So many characters have at least so many bytes.
    if (this.#kept.length > 2 * maxBytes) this.#kept = this.#kept.slice(-maxBytes);
  }

  /** A full disk must not fail the command: the file is given up. */
  async #append(text: string): Promise<void> {
    await this.#file?.append(text).catch(async () => {
      await this.#file?.close().catch(() => undefined);
      this.#file = undefined;
    });
  }

  #note(missing: number): string {
    const fact = `[${sizeText(missing)} of output before this are left out`;
    if (this.#file === undefined) return `${fact}.]`;
    const whole = this.#file.complete ? 'The full output is' : 'The first 50 MB of the output are';
    return `${fact}. ${whole} in ${this.#file.path}]`;
  }
}

/** Begins at a line, unless the only line break is far away. */
function wholeLines(tail: string): string {
  const lineBreak = tail.indexOf('\n');
  return lineBreak === -1 || lineBreak > tail.length / 2 ? tail : tail.slice(lineBreak + 1);
}
