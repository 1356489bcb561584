// The rolling digest of a transcript. Both sides of the contract compute it, each with its own SHA-256.

import type { MessageReference } from './activities.js';
import type { Digest } from './json.js';
import type { Message, Untimed } from './messages.js';

/** The rolling digest of no messages. */
export const emptyTranscriptDigest: Digest = '';

/** What is digested to go from the rolling digest of n messages to that of n + 1. */
export function rollingDigestInput(
  previous: Digest,
  reference: MessageReference,
): readonly unknown[] {
  return [previous, reference[0], reference[1]];
}

/** What a message's digest is taken of: activities know a message before the workflow has timed it. */
export function withoutTimestamp(message: Message | Untimed): Untimed {
  if (!('timestamp' in message)) return message;
  const { timestamp: _, ...untimed } = message;
  return untimed as Untimed;
}
