// The HTTP client under the `openai` client. It has no time-outs of its own, since the watchdog has all
// of them, and gives every answer the shape that the client reads: errors as `{"error": …}`, whatever
// the server wrapped them in, and a whole answer to a streaming request as a stream of one event.

import { Agent, fetch as undiciFetch } from 'undici';
import { fieldsOf } from './stream-chunk.js';
import type { Fields } from './stream-chunk.js';

const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** Bytes of an error that are read. */
const maxErrorBytes = 64 * 1024;

export async function providerFetch(
  url: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  const options = { ...init, dispatcher } as Parameters<typeof undiciFetch>[1];
  const target = url instanceof Request ? url.url : url;
  const response = (await undiciFetch(target, options)) as unknown as Response;
  if (!response.ok) return toErrorResponse(response);
  const type = response.headers.get('content-type') ?? '';
  return /\bapplication\/json\b/i.test(type) ? toStreamResponse(response) : response;
}

async function toErrorResponse(response: Response): Promise<Response> {
  const error = readError(await readStart(response, maxErrorBytes));
  const body = error === undefined ? '' : JSON.stringify({ error });
  return new Response(body, { status: response.status, headers: withoutBody(response.headers) });
}

/** The server did not stream: one event with everything, or with the error. */
async function toStreamResponse(response: Response): Promise<Response> {
  const text = await response.text();
  const oneLine = text.replace(/[\r\n]+/g, ' ');
  return new Response(`data: ${oneLine}\n\n`, {
    status: response.status,
    headers: { ...withoutBody(response.headers), 'content-type': 'text/event-stream' },
  });
}

function withoutBody(headers: Headers): { readonly [name: string]: string } {
  const dropped = ['content-length', 'content-encoding', 'transfer-encoding', 'content-type'];
  return Object.fromEntries([...headers].filter(([name]) => !dropped.includes(name)));
}

/** What arrived, when the rest is too long or never comes. */
async function readStart(response: Response, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of response.body ?? []) {
      parts.push(Buffer.from(part as Uint8Array));
      size += part.length;
      if (size >= maxBytes) break;
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(parts).toString('utf8', 0, maxBytes);
}

/** Undefined for an empty body. */
function readError(text: string): Fields | undefined {
  if (text.trim() === '') return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { message: plainText(text) };
  }
  const body = fieldsOf(Array.isArray(parsed) ? (parsed[0] as unknown) : parsed);
  if (body === undefined) return { message: plainText(text) };
  const error = fieldsOf(body['error']);
  if (error !== undefined) return error;
  const message = [body['error'], body['message'], body['detail']].find((field) => field != null);
  return {
    message: typeof message === 'string' ? message : JSON.stringify(message ?? body),
    ...(body['code'] == null ? {} : { code: body['code'] }),
    ...(body['type'] == null ? {} : { type: body['type'] }),
  };
}

/** Proxies answer with HTML pages. */
function plainText(text: string): string {
  return text
    .replace(/<(style|script)[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
