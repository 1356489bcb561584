// Raw payloads of inputs, signals, queries and updates, decoded here so that what nobody can decode is an
// answer and not an exception.

import { defaultPayloadConverter } from '@temporalio/common';
import type { RawValue } from '@temporalio/common';
import { excerpt } from '../protocol/text.js';
import { refusedReferenceEncoding } from '../protocol/handlers.js';

export type Decoded =
  | { readonly kind: 'value'; readonly value: unknown }
  /** No argument, or null. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'undecodable'; readonly reason: string };

export function decodePayload(raw: RawValue | undefined): Decoded {
  if (raw === undefined) return { kind: 'absent' };
  if (isRefusedReference(raw)) {
    return {
      kind: 'undecodable',
      reason: 'The argument refers to external storage; send the JSON itself.',
    };
  }
  try {
    const value = defaultPayloadConverter.fromPayload(raw.payload);
    if (value === undefined || value === null) return { kind: 'absent' };
    if (ArrayBuffer.isView(value)) {
      return { kind: 'undecodable', reason: 'The argument is binary; send JSON.' };
    }
    return { kind: 'value', value };
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return {
      kind: 'undecodable',
      reason: `The argument cannot be decoded; send JSON. (${excerpt(cause, 200)})`,
    };
  }
}

/** The optional object of a query; anything else counts as none given. */
export function queryArgument(raw: RawValue | undefined): { readonly [field: string]: unknown } {
  const decoded = decodePayload(raw);
  if (decoded.kind !== 'value' || typeof decoded.value !== 'object') return {};
  return decoded.value as { readonly [field: string]: unknown };
}

/** A whole number of a query's argument, or undefined. */
export function wholeNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function isRefusedReference({ payload }: RawValue): boolean {
  const encoding = payload.metadata?.['encoding'] ?? [];
  return String.fromCharCode(...Array.from(encoding).slice(0, 64)) === refusedReferenceEncoding;
}
