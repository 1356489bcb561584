// The same answers over real sockets: a server that writes its body in pieces, and sometimes hangs up.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { holds } from './cases.js';
import { callModel, cutBytes, expectedOutcome, inShort } from './provider-calls.js';
import { bodyOf, chunksOf, framing, providerScript } from './provider-script.js';

/** Slow, as every case has a connection of its own. */
const few = { oneIn: 25 };

/** What the server answers now; `hangsUp` after the last piece, without an end. */
let answer: { readonly pieces: readonly Uint8Array[]; readonly hangsUp: boolean };

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    void (async () => {
      for (const piece of answer.pieces) {
        response.write(piece);
        await new Promise(setImmediate);
      }
      if (answer.hangsUp) response.destroy();
      else response.end();
    })();
  });
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
});

const call = () => callModel(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
const body = fc
  .tuple(providerScript, framing)
  .map(([script, how]) => ({ script, bytes: bodyOf(chunksOf(script), how) }));
const cuts = fc.array(fc.nat(5_000), { minLength: 1, maxLength: 12 });

describe('a streamed answer over a socket', () => {
  test(
    'is the same wherever its bytes are cut',
    holds(
      fc.asyncProperty(body, cuts, async ({ script, bytes }, at) => {
        answer = { pieces: [...cutBytes(bytes, at)], hangsUp: false };
        expect(inShort(await call())).toEqual(expectedOutcome(script.intended, script.manner));
      }),
      few,
    ),
  );

  test(
    'that breaks off is a failure that is retried, unless its finish reason has come',
    holds(
      fc.asyncProperty(
        body,
        cuts,
        fc.nat(5_000),
        fc.boolean(),
        async ({ script, bytes }, at, end, hangsUp) => {
          const pieces = [...cutBytes(bytes.subarray(0, end % (bytes.length + 1)), at)];
          answer = { pieces, hangsUp };
          const outcome = await call();
          if (outcome.kind === 'problem') {
            expect(outcome.problem.kind).toBe('unavailable');
            return;
          }
          expect(outcome.message.finishReason).toBe(script.intended.finish);
          const { kind, message } = expectedOutcome(script.intended, script.manner) as {
            readonly kind: string;
            readonly message: { readonly content: unknown };
          };
          expect(inShort(outcome)).toMatchObject({ kind, message: { content: message.content } });
        },
      ),
      few,
    ),
  );
});
