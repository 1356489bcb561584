// Answers of queries, a page at a time: they fit, go on, end, and make the whole again for whoever reads them.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ContentCache } from '../../src/activities/content-cache.js';
import { readMessages, readValue as readOnWorker } from '../../src/activities/query-pages.js';
import type { WorkflowQueries } from '../../src/activities/query-pages.js';
import type { AgentEvent } from '../../src/protocol/events.js';
import { toCanonicalJson } from '../../src/protocol/json.js';
import type { JsonValue } from '../../src/protocol/json.js';
import type { Message, Untimed } from '../../src/protocol/messages.js';
import type { QueuedMessageSummary } from '../../src/protocol/session.js';
import { rollingDigestInput, withoutTimestamp } from '../../src/protocol/transcript-digest.js';
import { digestOf } from '../../src/activities/digest.js';
import { digestOf as digestInWorkflow } from '../../src/workflows/digest.js';
import { EventLog } from '../../src/workflows/event-log.js';
import { Transcript } from '../../src/workflows/transcript.js';
import { ValueStore } from '../../src/workflows/value-store.js';
import { assistantMessage, toolCall } from '../support/loop-values.js';
import { expectFits, readEvents, readTranscript, readValue } from '../support/pages.js';
import { holds } from './cases.js';
import { anyJson, anyText, longText, received } from './json-values.js';

/** Mostly short, now and then larger than a page. */
const text = fc.oneof(
  { arbitrary: anyText, weight: 60 },
  { arbitrary: longText(33_000), weight: 3 },
  { arbitrary: longText(110_000), weight: 1 },
);

const message: fc.Arbitrary<Untimed> = fc.oneof(
  text.map((content): Untimed => ({ role: 'user', content })),
  fc
    .tuple(text, anyText, anyJson)
    .map(([value, id, args]): Untimed =>
      assistantMessage([{ type: 'thinking', thinking: value }, toolCall(id, 'tool', { args })]),
    ),
  fc.tuple(text, anyText, anyJson).map(([value, toolCallId, details]): Untimed => ({
    role: 'toolResult',
    toolCallId,
    toolName: 'tool',
    content: [{ type: 'text', text: value }],
    details,
    isError: false,
  })),
);

const transcript = fc.array(message, { maxLength: 8 }).map((messages) => {
  const made = new Transcript();
  for (const [index, each] of messages.entries()) made.append(each, index);
  return made;
});

const limit = fc.oneof(fc.constant(undefined), fc.integer({ min: 1, max: 5 }));

describe('pages of a transcript', () => {
  test(
    'fit, go on and make the transcript again, whatever the limit',
    holds(
      fc.property(transcript, limit, (made, most) => {
        const query = most === undefined ? {} : { limit: most };
        expect(readTranscript(made, query).messages).toEqual(received(made.messages));
      }),
    ),
  );

  test(
    'are read by a worker as what the transcript is, and lead to its digest',
    holds(
      fc.asyncProperty(transcript, fc.nat(8), fc.nat(8), async (made, one, other) => {
        const [from, to] = [one, other]
          .map((index) => index % (made.length + 1))
          .toSorted((a, b) => a - b) as [number, number];
        const read: Message[] = [];
        for await (const each of readMessages({ from, to }, queriesOf(made), aborted)) {
          read.push(each);
        }
        expect(read).toEqual(received(made.messages.slice(from, to)));
        let digest = '';
        for (const each of received(made.messages)) {
          const reference = [digestOf(withoutTimestamp(each)), each.timestamp] as const;
          digest = digestOf(rollingDigestInput(digest, reference));
        }
        expect(made.reference().digest).toBe(digest);
      }),
    ),
  );

  test(
    'that make no sense are an outage for whoever reads them, never other messages',
    holds(
      fc.asyncProperty(
        transcript,
        fc.nat(8),
        fc.constantFrom('empty', 'no next', 'other slice', 'cut slice', 'skip'),
        async (made, at, fault) => {
          const queries = queriesOf(made);
          let asked = 0;
          const faulty: WorkflowQueries = {
            ...queries,
            messages: async (query, signal) => {
              const page = await queries.messages(query, signal);
              asked += 1;
              if (asked !== at + 1) return page;
              const { next: _, ...last } = page;
              if (fault === 'empty') return { messages: [], length: page.length };
              if (fault === 'no next') return last;
              if (fault === 'skip') return { ...page, messages: page.messages.slice(1) };
              if (page.slice === undefined) return page;
              const slice =
                fault === 'cut slice'
                  ? { ...page.slice, text: page.slice.text.slice(1) }
                  : { ...page.slice, index: page.slice.index + 1 };
              return { ...page, slice };
            },
          };
          const read: Message[] = [];
          const whole = received(made.messages);
          try {
            const range = { from: 0, to: made.length };
            for await (const each of readMessages(range, faulty, aborted)) read.push(each);
          } catch (error) {
            expect(error).toMatchObject({ type: 'ConversationUnavailable', nonRetryable: false });
            return;
          }
          // A message that is missing shows in the digest: the number is right, or the content is.
          if (fault !== 'skip' && fault !== 'cut slice') expect(read).toEqual(whole);
        },
      ),
    ),
  );
});

const aborted = new AbortController().signal;

function queriesOf(made: Transcript, store = new ValueStore()): WorkflowQueries {
  return {
    messages: (query) => Promise.resolve(received(made.page(query))),
    context: (query) => Promise.resolve(received(store.page(query))),
  };
}

describe('pages of a value', () => {
  test(
    'fit and make the value again, for followers and for workers',
    holds(
      fc.asyncProperty(
        fc.oneof(anyJson, text),
        fc.boolean(),
        async (value: JsonValue, forBatch) => {
          const store = new ValueStore();
          const digest = forBatch ? store.keepForBatch([value]) : store.keep([value]);
          expect(readValue(store, digest)).toEqual(received([value]));
          const queries = queriesOf(new Transcript(), store);
          const read = await readOnWorker(digest, queries, aborted);
          expect(digestOf(read)).toBe(digest);
          store.forgetBatch();
          if (forBatch) expect(() => store.page({ digest })).toThrow(/^Nothing with the digest/);
          else expect(toCanonicalJson(readValue(store, digest))).toBe(toCanonicalJson([value]));
        },
      ),
    ),
  );
});

describe('values in the cache of a worker', () => {
  test(
    'are found under the digest by which the workflow knows them, as it would decode them',
    holds(
      fc.property(anyJson, fc.date({ noInvalidDate: true }), (value, when) => {
        const cache = new ContentCache(1_000_000);
        const kept = { value, when, missing: undefined, list: [Number.NaN, undefined] };
        const digest = cache.put(kept);
        expect(digest).toBe(digestInWorkflow(received(kept)));
        expect(cache.get(digest)).toEqual(received(kept));
      }),
    ),
  );
});

const summary: fc.Arbitrary<QueuedMessageSummary> = fc.record({
  kind: fc.constantFrom('steer', 'followUp', 'prompt'),
  preview: text,
});

/** Events as a session emits them, with texts of any size where people or models choose them. */
const event: fc.Arbitrary<AgentEvent> = fc.oneof(
  fc.constant<AgentEvent>({ type: 'agent_start' }),
  text.map((reason): AgentEvent => ({ type: 'rejected', kind: 'steer', reason })),
  fc
    .tuple(text, anyText)
    .map(([preview, id]): AgentEvent => ({ type: 'queued', kind: 'steer', id, preview })),
  fc.nat(9).map((index): AgentEvent => ({ type: 'message_end', message: index })),
  fc.tuple(fc.nat(9), text).map(([index, toolName]): AgentEvent => ({
    type: 'tool_execution_start',
    toolCallId: 'a',
    toolName,
    message: index,
  })),
  text.map((toolCallId): AgentEvent => ({
    type: 'tool_execution_end',
    toolCallId,
    toolName: 'tool',
    isError: false,
  })),
  fc
    .tuple(text, fc.array(summary, { maxLength: 4 }))
    .map(([errorMessage, undelivered]): AgentEvent => ({
      type: 'agent_end',
      messages: { from: 0, to: 1 },
      stopReason: 'error',
      errorMessage,
      undelivered,
    })),
);

describe('pages of events', () => {
  test(
    'fit, go on, end and number the events from 1, whatever stands in them',
    holds(
      fc.property(transcript, fc.array(event, { maxLength: 30 }), limit, (made, events, most) => {
        const log = new EventLog();
        for (const [index, each] of events.entries()) log.emit(each, index);
        log.holdResult('a', { content: [{ type: 'text', text: 'held' }], isError: false });
        const read = readEvents(log, made, most);
        expect(read.map(({ seq, type }) => [seq, type])).toEqual(
          events.map(({ type }, index) => [index + 1, type]),
        );
        for (const [index, each] of read.entries()) {
          if (each.omitted === true) continue;
          // What is not cut is what was emitted.
          expect(each).toMatchObject(received(events[index] as AgentEvent));
          if (each.type === 'message_end' && each.content !== undefined) {
            expect(each.content).toEqual(received(made.at(each.message)));
          }
        }
        expectFits(log.page({ after: 1e9 }, made, false));
      }),
    ),
  );
});
