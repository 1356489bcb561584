// One streaming chat completion with the `openai` client: a single request, three clocks, and an end on
// every path. What came is in the accumulator, also after a failure.

import OpenAI, { APIError } from 'openai';
import { payloadLimits } from '../../protocol/limits.js';
import type { ModelDefinition } from '../definitions.js';
import type { ChatRequest } from './chat-request.js';
import { ModelProblem } from './model-problem.js';
import { providerFetch } from './provider-fetch.js';
import type { StreamAccumulator } from './stream-accumulator.js';
import { fieldsOf } from './stream-chunk.js';
import { startWatchdog } from './watchdog.js';

/** What a model call needs of the worker's secrets. */
export interface Credentials {
  /** Absent: the server needs none. */
  readonly apiKey?: string;
  readonly headers: { readonly [name: string]: string };
}

/** How long the usage is waited for once the answer is complete. */
const afterFinishMs = 2_000;

/**
 * Streams the answer into the accumulator. Returns when the stream has ended, however incomplete, or when
 * `cancellation` has closed the request.
 * @throws ModelProblem when a clock ran out or the answer is too large; whatever the client throws
 */
export async function streamChat(
  model: ModelDefinition,
  credentials: Credentials,
  request: ChatRequest,
  accumulator: StreamAccumulator,
  cancellation: AbortSignal,
): Promise<void> {
  using watchdog = startWatchdog(model.clocks, cancellation);
  let linger: NodeJS.Timeout | undefined;
  try {
    const client = createClient(model, credentials);
    const stream = await client.chat.completions.create(request, { signal: watchdog.signal });
    for await (const chunk of stream) {
      throwErrorChunk(chunk);
      if (accumulator.add(chunk)) watchdog.token();
      if (accumulator.size > payloadLimits.maxPayloadBytes) throw tooLarge();
      if (!accumulator.finished) continue;
      clearTimeout(linger);
      linger = setTimeout(() => stream.controller.abort(), afterFinishMs);
    }
  } catch (error) {
    // A connection that breaks after the finish reason took nothing of the answer with it.
    const harmless = accumulator.finished && !isStated(error);
    if (!watchdog.signal.aborted && !harmless) throw error;
  } finally {
    clearTimeout(linger);
  }
  if (watchdog.expired !== undefined && !accumulator.finished) throw watchdog.expired;
}

/** The answer weighs more than a payload may, as `completeChat` returns it. */
export function tooLarge(): ModelProblem {
  const megabytes = payloadLimits.maxPayloadBytes / 1_000_000;
  return new ModelProblem(
    'tooLarge',
    `The answer is larger than the ${megabytes} MB an answer may have.`,
  );
}

function createClient(model: ModelDefinition, { apiKey, headers }: Credentials): OpenAI {
  const url = new URL(model.baseURL);
  const query = Object.fromEntries(url.searchParams);
  url.search = '';
  return new OpenAI({
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    // What the client would read from the environment is the config's to say.
    organization: null,
    project: null,
    baseURL: url.toString(),
    defaultQuery: query,
    defaultHeaders: { ...(apiKey === undefined ? { authorization: null } : {}), ...headers },
    // Temporal retries; the watchdog has the time-outs.
    maxRetries: 0,
    timeout: model.clocks.callMs + 60_000,
    fetch: providerFetch,
    logLevel: 'off',
  });
}

/** An error event without the `error` field that the client looks for. */
function throwErrorChunk(chunk: unknown): void {
  const fields = fieldsOf(chunk);
  if (fields?.['object'] === 'error') throw new APIError(undefined, fields, undefined, undefined);
}

/** Said by the provider or by us, not a connection that ended. */
function isStated(error: unknown): boolean {
  if (error instanceof ModelProblem) return true;
  return error instanceof APIError && error.error !== undefined;
}
