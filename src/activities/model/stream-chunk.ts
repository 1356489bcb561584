// What is read of a chat-completion chunk: every field may be missing, null or of another type, as
// compatible servers have it. Nothing here throws.

export interface ToolCallDelta {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  /** A piece of text, or the whole as an object. */
  readonly arguments: string | { readonly [key: string]: unknown } | undefined;
  /** Opaque fields that go back with the call. */
  readonly signature: Fields | undefined;
}

export interface StreamChunk {
  readonly id: string;
  readonly text: string;
  readonly reasoning: { readonly field: string; readonly text: string } | undefined;
  readonly toolCalls: readonly ToolCallDelta[];
  readonly finishReason: string | undefined;
  readonly usage: Fields | undefined;
  /** Opaque fields of the message that go back with it. */
  readonly signature: Fields | undefined;
}

export type Fields = { readonly [key: string]: unknown };

/** Names the reasoning text goes by; some servers send two with the same text. */
const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_text'];

/** Opaque data of providers that goes back as it came. */
const messageSignatures = ['reasoning_details', 'reasoning_opaque', 'thinking_blocks'];
const callSignatures = ['extra_content', 'thought_signature', 'provider_specific_fields'];

export function readChunk(raw: unknown): StreamChunk {
  const chunk = fieldsOf(raw) ?? {};
  const choices = Array.isArray(chunk['choices']) ? (chunk['choices'] as readonly unknown[]) : [];
  const choice = fieldsOf(choices.find((item) => (fieldsOf(item)?.['index'] ?? 0) === 0)) ?? {};
  // A server that does not stream answers with a `message`.
  const delta = fieldsOf(choice['delta']) ?? fieldsOf(choice['message']) ?? {};
  const finish = choice['finish_reason'];
  return {
    id: textOf(chunk['id']),
    text: contentOf(delta['content']) + contentOf(delta['refusal']),
    reasoning: reasoningOf(delta),
    toolCalls: toolCallsOf(delta),
    finishReason: typeof finish === 'string' && finish !== '' ? finish : undefined,
    usage: fieldsOf(chunk['usage']) ?? fieldsOf(choice['usage']),
    signature: pick(delta, messageSignatures),
  };
}

export function fieldsOf(value: unknown): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Fields;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Content is a string, or a list of parts where a server keeps the shape of requests. */
function contentOf(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  return content.map((part: unknown) => textOf(fieldsOf(part)?.['text'])).join('');
}

/** The first non-empty field; an empty one counts where there is no other, as it must be sent back too. */
function reasoningOf(delta: Fields): StreamChunk['reasoning'] {
  const present = reasoningFields.filter((field) => typeof delta[field] === 'string');
  const field = present.find((name) => delta[name] !== '') ?? present[0];
  return field === undefined ? undefined : { field, text: textOf(delta[field]) };
}

function toolCallsOf(delta: Fields): readonly ToolCallDelta[] {
  const entries = Array.isArray(delta['tool_calls'])
    ? (delta['tool_calls'] as readonly unknown[])
    : [];
  const legacy = fieldsOf(delta['function_call']);
  return [...entries, ...(legacy === undefined ? [] : [{ index: 0, function: legacy }])]
    .map((entry) => fieldsOf(entry))
    .filter((entry) => entry !== undefined)
    .map((entry) => toToolCallDelta(entry));
}

function toToolCallDelta(entry: Fields): ToolCallDelta {
  const fn = fieldsOf(entry['function']) ?? {};
  const { index } = entry;
  const args = fn['arguments'];
  return {
    index: typeof index === 'number' ? index : undefined,
    id: typeof entry['id'] === 'number' ? String(entry['id']) : textOf(entry['id']),
    name: textOf(fn['name']),
    arguments: typeof args === 'string' ? args : fieldsOf(args),
    signature: pick(entry, callSignatures),
  };
}

function pick(fields: Fields, names: readonly string[]): Fields | undefined {
  const present = names.filter((name) => fields[name] !== undefined && fields[name] !== null);
  if (present.length === 0) return undefined;
  return Object.fromEntries(present.map((name) => [name, fields[name]]));
}
