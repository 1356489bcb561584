// Puts tool calls together from the pieces of a stream. Indexes are missing, always 0 or wrong on some
// servers, ids are missing or repeated on others; arguments are complete only when the stream is.

import { isJsonObject, isNestedTooDeeply, maxJsonDepth } from '../../protocol/json.js';
import type { JsonObject } from '../../protocol/json.js';
import type { ToolCall } from '../../protocol/messages.js';
import type { Fields, ToolCallDelta } from './stream-chunk.js';

/** A call under way. */
interface OpenCall {
  id: string;
  index: number | undefined;
  name: string;
  arguments: string;
  signature: Fields | undefined;
}

export interface ToolCallAssembly {
  /** The entries of one chunk. */
  push(deltas: readonly ToolCallDelta[]): void;
  /** UTF-16 units of names and arguments so far. */
  readonly size: number;
  /** Entries that have a name or arguments; the ids are the provider's, possibly empty or repeated. */
  calls(): readonly ToolCall[];
}

export function createToolCallAssembly(): ToolCallAssembly {
  const open: OpenCall[] = [];
  let size = 0;
  return {
    push(deltas) {
      const opened = new Set<OpenCall>();
      for (const delta of deltas) {
        const call = callFor(delta, open, opened);
        if (call.name === '') call.name = delta.name;
        if (call.id === '') call.id = delta.id;
        call.signature = delta.signature ?? call.signature;
        const before = call.arguments.length;
        call.arguments = appendArguments(call.arguments, delta);
        size += call.arguments.length - before + delta.name.length;
      }
    },
    get size() {
      return size;
    },
    calls: () =>
      open
        .filter((call) => call.name !== '' || call.arguments.trim() !== '')
        .map((call) => toToolCall(call)),
  };
}

/**
 * The call a delta belongs to: a new non-empty id that differs from the current one opens a call; else the
 * index decides; else it is the latest. Another name, or a name beside a call that is whole, opens one too.
 */
function callFor(delta: ToolCallDelta, open: OpenCall[], openedNow: Set<OpenCall>): OpenCall {
  const current = currentCall(delta, open);
  if (current !== undefined && !startsAnother(delta, current, openedNow)) return current;
  const call: OpenCall = {
    id: delta.id,
    index: delta.index,
    name: '',
    arguments: '',
    signature: undefined,
  };
  open.push(call);
  openedNow.add(call);
  return call;
}

function currentCall(delta: ToolCallDelta, open: readonly OpenCall[]): OpenCall | undefined {
  const known = delta.id === '' ? undefined : open.findLast((call) => call.id === delta.id);
  const sameIndex =
    delta.index === undefined ? undefined : open.findLast((call) => call.index === delta.index);
  if (delta.index === undefined) return known ?? open.at(-1);
  // Calls with one id and different indexes are different calls.
  if (known !== undefined && known.index === delta.index) return known;
  return sameIndex;
}

function startsAnother(
  delta: ToolCallDelta,
  current: OpenCall,
  openedNow: ReadonlySet<OpenCall>,
): boolean {
  if (delta.id !== '' && current.id !== '' && delta.id !== current.id) return true;
  if (delta.name === '' || current.name === '') return false;
  if (openedNow.has(current) || delta.name !== current.name) return true;
  const text = argumentsText(delta);
  if (text === '' || text === current.arguments) return false;
  return isWhole(current.arguments);
}

function argumentsText(delta: ToolCallDelta): string {
  const { arguments: args } = delta;
  if (args === undefined) return '';
  return typeof args === 'string' ? args : JSON.stringify(args);
}

/** A whole call said twice stays one call. */
function appendArguments(present: string, delta: ToolCallDelta): string {
  const text = argumentsText(delta);
  if (typeof delta.arguments === 'object') return text;
  if (delta.name !== '' && text === present && isWhole(present)) return present;
  return present + text;
}

function isWhole(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false;
  return parse(text).kind === 'object';
}

function toToolCall({ id, name, arguments: text, signature }: OpenCall): ToolCall {
  const call = { type: 'toolCall', id, name } as const;
  const opaque = signature === undefined ? {} : { signature: signature as JsonObject };
  const parsed = parse(text);
  if (parsed.kind === 'object') return { ...call, arguments: parsed.value, ...opaque };
  const argumentsError = { message: parsed.message, raw: text };
  return { ...call, arguments: {}, argumentsError, ...opaque };
}

type Parsed =
  | { readonly kind: 'object'; readonly value: JsonObject }
  | { readonly kind: 'broken'; readonly message: string };

/** Nothing and `null` are `{}`; an object inside a JSON string is taken out of it. */
function parse(text: string): Parsed {
  if (text.trim() === '') return { kind: 'object', value: {} };
  try {
    let value: unknown = JSON.parse(text);
    if (typeof value === 'string') value = value.trim() === '' ? null : JSON.parse(value);
    if (value === null) return { kind: 'object', value: {} };
    if (isNestedTooDeeply(value)) {
      return {
        kind: 'broken',
        message: `the arguments are nested deeper than ${maxJsonDepth} levels`,
      };
    }
    if (isJsonObject(value)) return { kind: 'object', value };
    return { kind: 'broken', message: 'the arguments are no JSON object' };
  } catch (error) {
    return { kind: 'broken', message: (error as Error).message };
  }
}
