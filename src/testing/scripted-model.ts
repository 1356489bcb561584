// A scripted model: an OpenAI-compatible server on 127.0.0.1 that answers each chat completion with the
// next reply of a script, over real sockets, and records what it was asked.
//
// It fails loudly: a request beyond the script, or to another path, is answered 400 or 404, which nobody
// retries, with a clear text; it is recorded as a fault, and `close` throws.

import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { reply } from './scripted-reply.js';
import type { ReplyStep, ScriptedReply } from './scripted-reply.js';

export { chunk, reply, step } from './scripted-reply.js';
export type {
  RawPart,
  ReplyStep,
  ScriptedAnswer,
  ScriptedReply,
  ScriptedToolCall,
} from './scripted-reply.js';

/** The body of a chat-completion request, as far as scripts and tests look at it. */
export interface ScriptedRequestBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly {
    readonly role: string;
    readonly content?: unknown;
    readonly tool_calls?: readonly {
      readonly id: string;
      readonly function: { readonly name: string; readonly arguments: string };
    }[];
    readonly tool_call_id?: string;
    readonly [field: string]: unknown;
  }[];
  readonly tools?: readonly unknown[];
  readonly [field: string]: unknown;
}

export interface ScriptedRequest {
  /** Its number, from 0. */
  readonly index: number;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: ScriptedRequestBody;
  /** `performance.now()` at arrival. */
  readonly at: number;
  /** Resolves when the exchange is over: `answered` to the end, `cut` by the script, or `left` by the client. */
  readonly ended: Promise<'answered' | 'cut' | 'left'>;
  /** `performance.now()` when the client closed the connection before the answer's end. */
  readonly leftAt: number | undefined;
}

/** Chooses the reply from what was asked, so that a conversation can drive the script. */
export type ReplyFunction = (
  body: ScriptedRequestBody,
  index: number,
) => ScriptedReply | Promise<ScriptedReply>;

/** A list is used up entry by entry; a function answers every request. */
export type Script = readonly (ScriptedReply | ReplyFunction)[] | ReplyFunction;

export interface ScriptedModel {
  /** e.g. `http://127.0.0.1:40001/v1`. */
  readonly baseURL: string;
  readonly requests: readonly ScriptedRequest[];
  /** What went wrong: requests beyond the script, unknown paths, broken bodies, throwing functions. */
  readonly faults: readonly string[];
  /** Replies of the list that nobody has asked for yet. */
  readonly remaining: number;
  /** Adds replies to the end of the list. */
  add(...replies: readonly (ScriptedReply | ReplyFunction)[]): void;
  /** The request with this number, when it arrives. */
  request(index: number): Promise<ScriptedRequest>;
  /** Closes the server and every connection. @throws when there were faults, unless they are expected */
  close(options?: { readonly expectFaults?: boolean }): Promise<void>;
}

export interface ScriptedModelOptions {
  /** Default: a free port. */
  readonly port?: number;
}

export async function startScriptedModel(
  script: Script,
  { port = 0 }: ScriptedModelOptions = {},
): Promise<ScriptedModel> {
  const queue = typeof script === 'function' ? [] : [...script];
  const requests: MutableRequest[] = [];
  const faults: string[] = [];
  const arrivals = new Map<number, ((request: ScriptedRequest) => void)[]>();

  const fault = (status: number, text: string): ScriptedReply => {
    faults.push(text);
    return reply.status(status, { error: { message: text, type: 'scripted_model_fault' } });
  };

  const choose = async (body: ScriptedRequestBody, index: number): Promise<ScriptedReply> => {
    const entry = typeof script === 'function' ? script : queue.shift();
    if (entry === undefined) {
      return fault(400, `The script has run out: request ${index} has no reply.`);
    }
    if (typeof entry !== 'function') return entry;
    try {
      return await entry(body, index);
    } catch (error) {
      return fault(400, `The reply function threw at request ${index}: ${String(error)}`);
    }
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const text = await readBody(incoming);
    const path = incoming.url ?? '/';
    if (incoming.method !== 'POST' || !/\/chat\/completions(\?|$)/.test(path)) {
      return play(fault(404, `The scripted model has no ${incoming.method} ${path}.`), response);
    }
    const body = parseBody(text);
    if (body === undefined) return play(fault(400, `Unreadable request body: ${text}`), response);
    const request = recordRequest(requests.length, path, incoming, body, response);
    requests.push(request);
    for (const resolve of arrivals.get(request.index) ?? []) resolve(request);
    return play(await choose(body, request.index), response);
  };

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error: unknown) => {
      // A client that leaves while its request is read is the client's business.
      if (!incoming.destroyed) faults.push(String(error));
      response.destroy();
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address() as AddressInfo;

  return {
    baseURL: `http://127.0.0.1:${address.port}/v1`,
    requests,
    faults,
    get remaining() {
      return queue.length;
    },
    add: (...replies) => {
      queue.push(...replies);
    },
    request: (index) => {
      const present = requests[index];
      if (present !== undefined) return Promise.resolve(present);
      return new Promise((resolve) => {
        arrivals.set(index, [...(arrivals.get(index) ?? []), resolve]);
      });
    },
    close: async ({ expectFaults = false } = {}) => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      if (faults.length > 0 && !expectFaults) {
        throw new Error(`The scripted model had faults:\n${faults.join('\n')}`);
      }
    },
  };
}

interface MutableRequest extends ScriptedRequest {
  leftAt: number | undefined;
}

function recordRequest(
  index: number,
  path: string,
  incoming: IncomingMessage,
  body: ScriptedRequestBody,
  response: ServerResponse,
): MutableRequest {
  const ended = new Promise<'answered' | 'cut' | 'left'>((resolve) => {
    response.once('close', () => {
      if (response.writableFinished) return resolve('answered');
      if (cutByScript.has(response)) return resolve('cut');
      request.leftAt = performance.now();
      return resolve('left');
    });
  });
  const { headers } = incoming;
  const request: MutableRequest = {
    index,
    path,
    headers,
    body,
    at: performance.now(),
    ended,
    leftAt: undefined,
  };
  return request;
}

const cutByScript = new WeakSet<ServerResponse>();

/** Plays the reply's steps until its end or until the client leaves. */
async function play(scripted: ScriptedReply, response: ServerResponse): Promise<void> {
  const left = new AbortController();
  // One listener for all steps: a script may wait hundreds of times.
  const gone = new Promise<void>((resolve) => {
    response.once('close', () => {
      left.abort();
      resolve();
    });
  });
  response.statusCode = scripted.status;
  for (const [name, value] of Object.entries(scripted.headers)) response.setHeader(name, value);
  for (const step of scripted.steps) {
    if (left.signal.aborted) return;
    await playStep(step, response, { signal: left.signal, gone });
  }
  if (!response.destroyed) response.end();
}

async function playStep(
  step: ReplyStep,
  response: ServerResponse,
  client: { readonly signal: AbortSignal; readonly gone: Promise<void> },
): Promise<void> {
  const { signal, gone } = client;
  switch (step.kind) {
    case 'send':
      await send(step.text, response);
      return;
    case 'headers':
      response.flushHeaders();
      return;
    case 'wait':
      await sleep(step.milliseconds, undefined, { signal }).catch(() => {});
      return;
    case 'until':
      await Promise.race([step.promise, gone]);
      return;
    case 'repeat':
      while (!signal.aborted) {
        await send(step.text, response);
        await sleep(step.everyMs, undefined, { signal }).catch(() => {});
      }
      return;
    case 'hang':
      await gone;
      return;
    case 'cut':
      cutByScript.add(response);
      response.destroy();
      return;
  }
}

/** Resolves when the piece has left for the socket, so that a cut after it does not swallow it. */
function send(text: string, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) return resolve();
    response.once('close', resolve);
    response.write(text, () => {
      response.off('close', resolve);
      resolve();
    });
  });
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function parseBody(text: string): ScriptedRequestBody | undefined {
  try {
    const body = JSON.parse(text) as ScriptedRequestBody;
    return Array.isArray(body.messages) ? body : undefined;
  } catch {
    return undefined;
  }
}
