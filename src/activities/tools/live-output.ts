// The end of a growing text, as heartbeats show it.

import { cutUtf8 } from '../../protocol/json.js';
import { maxTailBytes } from '../../protocol/live-views.js';
import type { TailView } from '../../protocol/live-views.js';

export class LiveOutput {
  #tail = '';
  #length = 0;

  append(text: string): void {
    this.#length += text.length;
    // No character has less than a byte, so more characters than bytes are never needed.
    const end = (this.#tail + text.slice(-maxTailBytes)).slice(-maxTailBytes);
    this.#tail = cutUtf8(end, maxTailBytes, true);
  }

  get view(): TailView {
    return { offset: this.#length - this.#tail.length, tail: this.#tail };
  }
}
