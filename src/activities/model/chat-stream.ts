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
  { baseURL, clocks }: ModelDefinition,
  credentials: Credentials,
  request: ChatRequest,
  accumulator: StreamAccumulator,
  cancellation: AbortSignal,
): Promise<void> {
  using watchdog = startWatchdog(clocks, cancellation);
  let linger: NodeJS.Timeout | undefined;
  try {
    const stream = await clientOf(baseURL).chat.completions.create(request, {
      headers: headersOf(credentials),
      signal: watchdog.signal,
      // The watchdog has the time-outs.
      timeout: clocks.callMs + 60_000,
    });
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

const clients = new Map<string, OpenAI>();

/** One client per server, as each is some 150 objects. It holds no secrets: those go with a request. */
function clientOf(baseURL: string): OpenAI {
  const known = clients.get(baseURL);
  if (known !== undefined) return known;
  const client = createClient(baseURL);
  clients.set(baseURL, client);
  return client;
}

function createClient(baseURL: string): OpenAI {
  const url = new URL(baseURL);
  const query = Object.fromEntries(url.searchParams);
  url.search = '';
  return new OpenAI({
    // The client wants one; the request's own header takes its place.
    apiKey: 'none',
    adminAPIKey: null,
    // What the client would read from the environment is the config's to say.
    organization: null,
    project: null,
    baseURL: url.toString(),
    defaultQuery: query,
    // Temporal retries.
    maxRetries: 0,
    fetch: providerFetch,
    logLevel: 'off',
  });
}

/** Without a key there is no such header, unless the config names one. */
function headersOf({ apiKey, headers }: Credentials) {
  return { authorization: apiKey === undefined ? null : `Bearer ${apiKey}`, ...headers };
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
