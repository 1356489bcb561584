import { describe, expect, test } from 'vitest';
import { ContentCache } from '../../src/activities/content-cache.js';
import { createConversationSource } from '../../src/activities/conversation-source.js';
import type { WorkflowQueries } from '../../src/activities/query-pages.js';
import type { ConversationReference } from '../../src/protocol/activities.js';
import type { JsonValue } from '../../src/protocol/json.js';
import type { Untimed } from '../../src/protocol/messages.js';
import type { ContextQuery, MessagesPage, MessagesQuery } from '../../src/protocol/session.js';
import { Transcript } from '../../src/workflows/transcript.js';
import { ValueStore } from '../../src/workflows/value-store.js';

const signal = new AbortController().signal;
const tools = [{ name: 'bash', parameters: { type: 'object' } }];
const user = (content: string): Untimed => ({ role: 'user', content });

/** A workflow that answers queries through JSON, as the real one does, and counts what it was asked. */
function createWorkflow(session?: string) {
  const transcript = new Transcript();
  const values = new ValueStore();
  const asked: { messages: MessagesQuery[]; context: ContextQuery[] } = {
    messages: [],
    context: [],
  };
  const queries: WorkflowQueries = {
    ...(session === undefined ? {} : { session }),
    async messages(query) {
      asked.messages.push(query);
      return throughJson(transcript.page(query));
    },
    async context(query) {
      asked.context.push(query);
      return throughJson(values.page(query));
    },
  };
  let now = 0;
  return {
    transcript,
    values,
    asked,
    queries,
    say(...contents: readonly string[]) {
      for (const content of contents) transcript.append(user(content), ++now);
    },
    /** The reference that a model call made now would carry. */
    call(fields: Partial<ConversationReference> = {}): ConversationReference {
      const reference = {
        transcript: transcript.reference(),
        tools: values.keep(tools as unknown as JsonValue),
        ...fields,
      };
      transcript.markModelCall();
      return throughJson(reference);
    },
  };
}

const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** A worker with a cache of its own. */
function createWorker(bytes = 50_000_000) {
  const cache = new ContentCache(bytes);
  return {
    cache,
    source: (queries: WorkflowQueries) => createConversationSource(cache, queries),
    async load(workflow: ReturnType<typeof createWorkflow>, reference = workflow.call()) {
      workflow.asked.messages.length = 0;
      workflow.asked.context.length = 0;
      const source = createConversationSource(cache, workflow.queries);
      return await source.load(reference, signal);
    },
  };
}

/** Messages asked for, as `from` and the number of messages that were missing. */
const missing = (asked: readonly MessagesQuery[]) =>
  asked.map(({ from = 0, limit = 0 }) => [from, limit]);

const unavailable = { type: 'ConversationUnavailable', nonRetryable: false };

describe('loading a conversation', () => {
  test('gives the transcript with its times, the tools, the system prompt and what is prepended', async () => {
    const workflow = createWorkflow();
    workflow.say('a', 'b', 'c');
    const conversation = await createWorker().load(
      workflow,
      workflow.call({
        systemPrompt: workflow.values.keep('Be kind.'),
        prepend: workflow.values.keep([user('before')]),
        dropBefore: 1,
      }),
    );
    expect(conversation).toEqual({
      systemPrompt: 'Be kind.',
      tools,
      transcript: workflow.transcript.messages,
      visible: [{ ...user('before'), timestamp: 2 }, ...workflow.transcript.messages.slice(1)],
    });
  });

  test.each([
    [0, 3],
    [2, 1],
    [3, 0],
    [99, 0],
    [-1, 3],
  ])('dropBefore %i leaves %i of three messages visible', async (dropBefore, count) => {
    const workflow = createWorkflow();
    workflow.say('a', 'b', 'c');
    const { visible } = await createWorker().load(workflow, workflow.call({ dropBefore }));
    expect(visible).toHaveLength(count);
  });

  test('a reference to too many new messages to list is resolved by query, on a new worker and on one that knows the start', async () => {
    const workflow = createWorkflow('session');
    workflow.say('a', 'b');
    const knowing = createWorker();
    await knowing.load(workflow);
    workflow.say(...Array.from({ length: 501 }, (_, i) => `message ${i}`));
    const reference = workflow.call();
    expect(reference.transcript.added).toEqual([]);
    for (const [worker, from] of [
      [knowing, 2],
      [createWorker(), 0],
    ] as const) {
      const { transcript } = await worker.load(workflow, reference);
      expect(transcript).toEqual(workflow.transcript.messages);
      expect(workflow.asked.messages[0]?.from).toBe(from);
    }
  });

  test('an empty transcript needs no query', async () => {
    const workflow = createWorkflow();
    const { transcript } = await createWorker().load(workflow);
    expect(transcript).toEqual([]);
    expect(workflow.asked.messages).toEqual([]);
  });

  test('what the cache holds is frozen, what was just read too', async () => {
    const workflow = createWorkflow();
    workflow.say('a');
    const worker = createWorker();
    for (let i = 0; i < 2; i++) {
      const { transcript, visible, tools: specs } = await worker.load(workflow);
      for (const value of [transcript[0], visible[0], specs[0], specs[0]?.parameters]) {
        expect(Object.isFrozen(value)).toBe(true);
      }
    }
  });
});

describe('queries', () => {
  test('a worker that saw every message asks for nothing', async () => {
    const workflow = createWorkflow();
    const worker = createWorker();
    workflow.say('a');
    await worker.load(workflow);
    for (let i = 0; i < 5; i++) {
      const message = user(`answer ${i}`);
      worker.source(workflow.queries).remember({ ...message, missing: undefined } as never);
      workflow.say(`answer ${i}`);
      const { transcript } = await worker.load(workflow);
      expect(transcript).toEqual(workflow.transcript.messages);
      expect(workflow.asked).toEqual({ messages: [], context: [] });
    }
  });

  test('only messages that the worker did not produce are asked for', async () => {
    const workflow = createWorkflow();
    const worker = createWorker();
    workflow.say('a', 'b');
    await worker.load(workflow);
    worker.source(workflow.queries).remember(user('mine'));
    workflow.say('theirs 1', 'theirs 2', 'mine', 'theirs 3');
    await worker.load(workflow);
    expect(missing(workflow.asked.messages)).toEqual([
      [2, 2],
      [5, 1],
    ]);
    expect(workflow.asked.context).toEqual([]);
  });

  test('two workers that take turns read only what the other one added', async () => {
    const workflow = createWorkflow('session-1');
    const workers = [createWorker(), createWorker()];
    workflow.say('a'.repeat(1_000));
    for (let i = 0; i < 20; i++) {
      const worker = workers[i % 2] as ReturnType<typeof createWorker>;
      const reference = workflow.call();
      const { transcript } = await worker.load(workflow, reference);
      expect(transcript).toEqual(workflow.transcript.messages);
      const asked = workflow.asked.messages.reduce((sum, { limit = 0 }) => sum + limit, 0);
      expect(asked).toBeLessThanOrEqual(4);
      worker.source(workflow.queries).remember(user(`call ${i}`));
      workflow.say(`call ${i}`, `result ${i}`);
    }
  });

  test('another worker reads a transcript of 2 MB by pages and the large messages by slices', async () => {
    const workflow = createWorkflow();
    const pieces = 'a Z " \\ \n \u0000 ü 漢 \ufeff 🦉 \ud800 \udfff'.split(' ');
    for (let i = 0; i < 300; i++) workflow.say(`${i} ${pieces[i % pieces.length]?.repeat(i)}`);
    workflow.say('"'.repeat(400_000), '🦉'.repeat(100_000));
    const { transcript } = await createWorker().load(workflow);
    expect(transcript).toEqual(workflow.transcript.messages);
    expect(workflow.asked.messages.length).toBeLessThan(20);
  });

  test('a gap in the middle is read without what stands around it', async () => {
    const workflow = createWorkflow();
    const worker = createWorker(70_000);
    for (let i = 0; i < 10; i++) workflow.say(`${i}${'x'.repeat(5_000)}`);
    const reference = workflow.call();
    await worker.load(workflow, reference);
    // Too small for all: the oldest are gone, and reading them again pushes out others.
    worker.cache.put('y'.repeat(20_000));
    const { transcript } = await worker.load(workflow, reference);
    expect(transcript).toEqual(workflow.transcript.messages);
    const asked = workflow.asked.messages.reduce((sum, { limit = 0 }) => sum + limit, 0);
    expect(asked).toBeLessThan(10);
  });

  test('a cache that can hold nothing still loads everything', async () => {
    const workflow = createWorkflow('session-1');
    workflow.say('a', 'b', 'c'.repeat(300_000), 'd');
    const worker = createWorker(0);
    for (let i = 0; i < 3; i++) {
      const reference = workflow.call({ systemPrompt: workflow.values.keep('Be kind.') });
      const { transcript, systemPrompt } = await worker.load(workflow, reference);
      expect(transcript).toEqual(workflow.transcript.messages);
      expect(systemPrompt).toBe('Be kind.');
      workflow.say(`more ${i}`);
    }
  });

  test('messages beyond the reference are not asked for', async () => {
    const workflow = createWorkflow();
    workflow.say('a', 'b');
    const reference = workflow.call();
    workflow.say('later');
    const { transcript } = await createWorker().load(workflow, reference);
    expect(transcript).toHaveLength(2);
    expect(missing(workflow.asked.messages)).toEqual([[0, 2]]);
  });
});

describe('another branch', () => {
  const branch = (...contents: readonly string[]) => {
    const workflow = createWorkflow('session-1');
    workflow.say(...contents);
    return workflow;
  };

  test.each<[string, readonly string[], readonly string[]]>([
    ['with the same beginning and another tail', ['a', 'b', 'c'], ['a', 'b', 'x']],
    ['that is shorter, as after a reset', ['a', 'b', 'c'], ['a', 'b']],
    ['that is longer', ['a', 'b'], ['a', 'x', 'c', 'd']],
    ['of the same id started again', ['a', 'b'], ['other']],
    ['with the same messages in another order', ['a', 'b'], ['b', 'a']],
  ])('%s is never served from the cache of the first', async (_, first, second) => {
    const worker = createWorker();
    await worker.load(branch(...first));
    const other = branch(...second);
    const { transcript } = await worker.load(other);
    expect(transcript).toEqual(other.transcript.messages);
  });

  test('that lies between two calls of another worker is read whole', async () => {
    const worker = createWorker();
    await worker.load(branch('a', 'b'));
    const other = branch('a', 'x', 'c');
    // Another worker made this call: this one never hears of its messages.
    other.call();
    other.say('d');
    const { transcript } = await worker.load(other);
    expect(transcript).toEqual(other.transcript.messages);
    other.say('e');
    expect((await worker.load(other)).transcript).toHaveLength(5);
    expect(missing(other.asked.messages)).toEqual([[4, 1]]);
  });
});

describe('values', () => {
  test('come from the cache, or by pages', async () => {
    const workflow = createWorkflow();
    const { cache, source } = createWorker();
    const value = { text: '"🦉'.repeat(100_000) };
    const digest = workflow.values.keep(value);
    expect(await source(workflow.queries).value(digest, signal)).toEqual(value);
    expect(workflow.asked.context.length).toBeGreaterThan(2);
    workflow.asked.context.length = 0;
    expect(await source(workflow.queries).value(digest, signal)).toEqual(value);
    expect(workflow.asked.context).toEqual([]);
    source(workflow.queries).rememberValue({ small: 1 });
    expect(cache.get(workflow.values.keep({ small: 1 }))).toEqual({ small: 1 });
  });
});

describe('a workflow that answers nonsense', () => {
  const reference = (() => {
    const workflow = createWorkflow();
    workflow.say('a', 'b', 'c');
    return workflow.call();
  })();
  const message = { ...user('a'), timestamp: 1 };
  const page = (fields: Partial<MessagesPage>): MessagesPage => ({
    messages: [],
    length: 3,
    ...fields,
  });
  const slice = (offset: number, text: string, index = 0) => ({ slice: { index, offset, text } });

  test.each<[string, readonly MessagesPage[]]>([
    ['nothing', [page({})]],
    ['nothing for ever', [page({ next: { from: 0 } })]],
    ['too few messages', [page({ messages: [message] })]],
    ['other messages', [page({ messages: [message, message, message] })]],
    ['more messages than asked for', [page({ messages: [message, message, message, message] })]],
    ['a slice that is no JSON', [page(slice(0, '{"role":'))]],
    ['a slice that does not go on', [page({ ...slice(0, ''), next: { from: 0, offset: 0 } })]],
    ['a slice with a gap', [page({ ...slice(5, 'x'), next: { from: 0, offset: 6 } })]],
    ['a slice of another message', [page({ ...slice(0, '{}', 2), next: { from: 1 } })]],
    ['messages without content', [page({ messages: [{}, {}, {}] as never })]],
  ])('%s: the conversation is unavailable, and another attempt may be made', async (_, pages) => {
    const workflow = createWorkflow();
    let index = 0;
    const queries: WorkflowQueries = {
      context: (query, aborts) => workflow.queries.context(query, aborts),
      messages: async () => pages[Math.min(index++, pages.length - 1)] as MessagesPage,
    };
    workflow.values.keep(tools as unknown as JsonValue);
    const source = createWorker().source(queries);
    await expect(source.load(reference, signal)).rejects.toMatchObject(unavailable);
  });

  test('one message that was changed: the conversation is unavailable', async () => {
    const worker = createWorker();
    const workflow = createWorkflow();
    workflow.say('a', 'b');
    await worker.load(workflow);
    workflow.say('c');
    const honest = createWorkflow();
    honest.say('a', 'b', 'c');
    workflow.queries.messages = async (query, aborts) => {
      const answer = await honest.queries.messages(query, aborts);
      return {
        ...answer,
        messages: answer.messages.map((m) => ({ ...m, content: 'changed' }) as never),
      };
    };
    await expect(worker.load(workflow)).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining('message 2'),
    });
  });

  test.each([
    ['another value', { text: '{"b":1}' }],
    ['no JSON', { text: '{"b"' }],
    ['a page that does not go on', { text: '', next: { digest: 'x', offset: 5 } }],
  ])('a value that is %s: the conversation is unavailable', async (_, answer) => {
    const workflow = createWorkflow();
    const digest = workflow.values.keep({ a: 1 });
    workflow.queries.context = async () => answer;
    const source = createWorker().source(workflow.queries);
    await expect(source.value(digest, signal)).rejects.toMatchObject(unavailable);
  });

  test('a reference that contradicts itself is refused without a query', async () => {
    const workflow = createWorkflow();
    workflow.say('a', 'b');
    const { transcript, ...rest } = workflow.call();
    const forged = { ...rest, transcript: { ...transcript, base: 'x' } };
    await expect(createWorker().load(workflow, forged)).rejects.toMatchObject(unavailable);
    expect(workflow.asked.messages).toEqual([]);
  });

  test('a reference of the wrong length is refused', async () => {
    const workflow = createWorkflow();
    workflow.say('a', 'b');
    const { transcript, ...rest } = workflow.call();
    for (const length of [0, 1, 3]) {
      const forged = { ...rest, transcript: { ...transcript, length } };
      await expect(createWorker().load(workflow, forged)).rejects.toMatchObject(unavailable);
    }
  });

  test('what a query rejects with reaches the caller, and the signal reaches the query', async () => {
    const workflow = createWorkflow();
    workflow.say('a');
    const controller = new AbortController();
    workflow.queries.messages = (_, aborts) =>
      new Promise((_resolve, reject) => {
        aborts.addEventListener('abort', () => reject(new Error('aborted')));
      });
    const load = createWorker().source(workflow.queries).load(workflow.call(), controller.signal);
    controller.abort();
    await expect(load).rejects.toThrow('aborted');
  });
});
