// Tool-call ids: unique in the transcript on the way in, in the provider's shape on the way out.

import { createHash } from 'node:crypto';
import type { Message, ToolCall } from '../../protocol/messages.js';
import type { ModelQuirks } from '../definitions.js';

const maxWireIdLength = 40;

/** Longer ids are replaced: people answer approvals by them. */
const maxIdLength = 200;

/** The ids of all calls in the transcript. */
export function idsOf(transcript: readonly Message[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const message of transcript) {
    if (message.role === 'toolResult') ids.add(message.toolCallId);
    if (message.role !== 'assistant') continue;
    for (const block of message.content) if (block.type === 'toolCall') ids.add(block.id);
  }
  return ids;
}

/**
 * Replaces missing, repeated and over-long ids by ones made from the transcript's length and the call's position, so
 * that each result answers one call and another attempt gives the same ids.
 */
export function withUniqueIds(
  calls: readonly ToolCall[],
  usedIds: ReadonlySet<string>,
  transcriptLength: number,
): readonly ToolCall[] {
  const used = new Set(usedIds);
  return calls.map((call, position) => {
    let { id } = call;
    for (let n = 0; id === '' || id.length > maxIdLength || used.has(id); n++) {
      id = `call_${transcriptLength}_${position + 1}${n === 0 ? '' : `_${n}`}`;
    }
    used.add(id);
    return id === call.id ? call : { ...call, id };
  });
}

/** The id as the provider takes it; the same for a call and its result, in every request. */
export function toWireId(id: string, shape: ModelQuirks['toolCallIds']): string {
  switch (shape) {
    case 'as-is':
      return id;
    case 'nine-alphanumerics':
      return /^[A-Za-z0-9]{9}$/.test(id) ? id : alphanumericDigest(id, 9);
    case undefined:
      if (id.length <= maxWireIdLength) return id;
      return `${id.slice(0, maxWireIdLength - 10)}_${alphanumericDigest(id, 9)}`;
  }
}

function alphanumericDigest(text: string, length: number): string {
  const hex = createHash('sha256').update(text).digest('hex').slice(0, 24);
  return BigInt(`0x${hex}`).toString(36).padStart(length, '0').slice(-length);
}
