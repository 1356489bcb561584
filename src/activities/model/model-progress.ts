// What a model call shows in its heartbeats: the end of the text as it streams, and how often the provider
// has failed, which the next attempt reads back.

import { cutUtf8 } from '../../protocol/json.js';
import { maxTailBytes } from '../../protocol/live-views.js';
import type { ModelProgress, TailView } from '../../protocol/live-views.js';

/** Provider failures of earlier attempts, from the details of the last heartbeat. */
export function earlierFailuresOf(heartbeatDetails: unknown): number {
  const details = (heartbeatDetails ?? {}) as Partial<ModelProgress>;
  const { kind, providerFailures } = details;
  return kind === 'model' && Number.isInteger(providerFailures) ? (providerFailures as number) : 0;
}

/** The end of a growing text, at most 8 KB, never beginning inside a surrogate pair. */
export function toTailView(text: string): TailView {
  const end = text.slice(-maxTailBytes);
  const torn = end.length < text.length && /^[\uDC00-\uDFFF]/.test(end);
  const tail = cutUtf8(torn ? end.slice(1) : end, maxTailBytes, true);
  return { offset: text.length - tail.length, tail };
}
