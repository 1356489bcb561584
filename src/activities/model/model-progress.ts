// What a model call shows in its heartbeats: the end of the text as it streams, and how often the provider
// has failed, which the next attempt reads back.

import type { ModelProgress, TailView } from '../../protocol/live-views.js';
import type { Redactor } from '../secrets.js';
import { LiveOutput } from '../tools/live-output.js';

/** Provider failures of earlier attempts, from the details of the last heartbeat. */
export function earlierFailuresOf(heartbeatDetails: unknown): number {
  const details = (heartbeatDetails ?? {}) as Partial<ModelProgress>;
  const { kind, providerFailures } = details;
  return kind === 'model' && Number.isInteger(providerFailures) ? (providerFailures as number) : 0;
}

export const nothing: TailView = { offset: 0, tail: '' };

/**
 * Makes the details of a model call's heartbeats from its texts as they have grown. A secret is found
 * wherever a piece or the 8 KB of a tail would cut it: texts are redacted as they grow, then cut.
 */
export function createModelProgress(turn: number, attempt: number, redactor: Redactor) {
  const text = createRedactedTail(redactor);
  const thinking = createRedactedTail(redactor);
  return (
    grown: { readonly text: string; readonly thinking: string },
    providerFailures: number,
  ): ModelProgress => ({
    kind: 'model',
    turn,
    attempt,
    text: text(grown.text),
    thinking: thinking(grown.thinking),
    providerFailures,
  });
}

function createRedactedTail(redactor: Redactor): (text: string) => TailView {
  const stream = redactor.stream();
  const output = new LiveOutput();
  let seen = 0;
  return (text) => {
    output.append(stream.push(text.slice(seen)));
    seen = text.length;
    return output.view;
  };
}
