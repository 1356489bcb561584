// What history holds: what is new, once, and no secret; and what people see of a session beside it.

import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import type { ToolOutput } from '../../src/activities/definitions.js';
import { defineTool } from '../../src/config/index.js';
import { reply } from '../../src/testing/scripted-model.js';
import { createAgentWorld, messagesOf } from '../support/agent-world.js';
import {
  expectSound,
  historyText,
  occurrences,
  scheduled,
  sessionOf,
  spoken,
  untilIdle,
  untilStatus,
} from '../support/session-steps.js';
import { createKillWorld } from '../support/worker-process-world.js';

describe('history', () => {
  test('holds each prompt, steered message, answer and tool result once, over many turns and runs', async () => {
    const mark = {
      prompt: 'MARK-prompt',
      steer: 'MARK-steer',
      answer: 'MARK-answer',
      reasoning: 'MARK-reasoning',
      result: 'MARK-result',
      system: 'MARK-system',
    };
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'talk' }], { text: mark.answer, reasoning: mark.reasoning }),
        ...Array.from({ length: 4 }, () => reply.toolCalls([{ name: 'talk' }])),
        reply.text('First run over.'),
        reply.toolCalls([{ name: 'talk' }]),
        reply.text('Second run over.'),
      ],
      config: {
        agents: { default: { systemPrompt: mark.system } },
        tools: [
          defineTool({
            name: 'talk',
            description: 'Talks.',
            parameters: { type: 'object', properties: {} },
            execute: () => (count++ === 0 ? mark.result : 'more'),
          }),
        ],
      },
    });
    let count = 0;
    const session = await sessionOf(world);
    await session.steer(mark.steer);
    // `queued` events are no part of history; the update's answer carries no text.
    await session.submit('prompt', mark.prompt);
    await untilIdle(session, 1);
    await session.prompt('Again');
    await untilIdle(session, 2);
    const text = await historyText(world, session);
    for (const [what, marker] of Object.entries(mark)) {
      expect(`${what} ${occurrences(text, marker)}`).toBe(`${what} 1`);
    }
    const last = JSON.stringify(world.model.requests.at(-1)?.body);
    for (const marker of [mark.prompt, mark.steer, mark.answer, mark.result, mark.system]) {
      expect(last).toContain(marker);
    }
    await expectSound(world, session);
  });

  test('an unchanged definition is recorded once over two runs; an edited config reaches the next run', async () => {
    const definition = { systemPrompt: 'MARK-original' };
    await using world = await createAgentWorld({
      script: ['1', '2', '3'].map((text) => reply.text(text)),
      config: { agents: { default: definition } },
    });
    const session = await sessionOf(world, { prompt: 'One' });
    await untilIdle(session, 1);
    await session.prompt('Two');
    await untilIdle(session, 2);
    expect(occurrences(await historyText(world, session), 'MARK-original')).toBe(1);
    const resolutions = (await scheduled(world, session)).filter(
      ({ type }) => type === 'resolveAgent',
    );
    expect(resolutions).toHaveLength(2);
    expect(resolutions[1]?.input).toHaveProperty('known');

    await world.stopWorkers();
    await world.addWorker({ agents: { default: { systemPrompt: 'MARK-edited' } } });
    await session.prompt('Three');
    await untilIdle(session, 3);
    expect(world.model.requests.map(({ body }) => body.messages[0]?.content)).toEqual([
      'MARK-original',
      'MARK-original',
      'MARK-edited',
    ]);
    await expectSound(world, session);
  });

  test('the digest of a large argument is in history, the argument itself with its message only', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([
          { name: 'write', arguments: { path: 'a', content: `MARK-content${'.'.repeat(3_000)}` } },
        ]),
        reply.text('Done.'),
      ],
    });
    const run = await world.client.start('Go');
    await run.result();
    expect(occurrences(await historyText(world, run), 'MARK-content')).toBe(1);
    await expectSound(world, run);
  });

  test('grows by what is new: a turn late in a long run adds no more than an early one', async () => {
    await using world = await createAgentWorld({
      script: (_, index) =>
        index < 30
          ? reply.toolCalls([{ name: 'bash', arguments: { command: `echo ${'x'.repeat(500)}` } }])
          : reply.text('Done.'),
    });
    const run = await world.client.start('Go');
    await run.result();
    const inputs = (await scheduled(world, run))
      .filter(({ type }) => type === 'completeChat')
      .map(({ input }) => JSON.stringify(input).length);
    expect(Math.max(...inputs.slice(1))).toBeLessThan((inputs[1] ?? 0) * 1.1);
    await expectSound(world, run);
  });
});

describe('secrets', () => {
  const key = 'sk-very-secret-0123456789abcdef';
  afterEach(() => {
    delete process.env['MODEL_KEY'];
  });

  test('a tool that prints the worker’s environment leaves nothing of the key in history', async () => {
    process.env['MODEL_KEY'] = key;
    await using world = await createKillWorld({
      script: [
        reply.toolCalls([
          { name: 'bash', arguments: { command: 'env; cat /proc/$PPID/environ | tr "\\0" "\\n"' } },
          {
            name: 'bash',
            arguments: {
              command: 'for p in /proc/[0-9]*; do tr "\\0" "\\n" < $p/environ 2>/dev/null; done',
            },
          },
          {
            name: 'bash',
            arguments: {
              command: 'cat /proc/[0-9]*/environ 2>/dev/null | grep -az MODEL | base64',
            },
          },
        ]),
        reply.text(`The key is ${key}.`),
      ],
    });
    const { baseURL } = world.model;
    await world.startWorker({
      models: { default: { model: 'scripted', baseURL, apiKeyEnv: 'MODEL_KEY' } },
    });
    const run = await world.client.start('Show me');
    await run.result();
    expect(world.model.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
    const printed = JSON.stringify(await messagesOf(run));
    // The process tree was really read: the marker's name is there, its value is not.
    expect(printed).toContain('MODEL_KEY=');
    const text = await historyText(world, run);
    expect(occurrences(text, key)).toBe(0);
    expect(occurrences(text, Buffer.from(key).toString('base64').slice(0, 30))).toBe(0);
    expect(occurrences(text, key.slice(8))).toBe(0);
  });

  test('a tool that answers, throws or is asked with the key leaves nothing of it, whichever way it goes', async () => {
    const leaking = (name: string, execute: () => ToolOutput) =>
      defineTool({
        name,
        description: 'Leaks.',
        parameters: { type: 'object', properties: {} },
        execute,
      });
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([
          { name: 'answers' },
          { name: 'details' },
          { name: 'throws' },
          { name: 'answers', arguments: { [key]: `Bearer ${key}` } },
        ]),
        reply.text('Done.'),
      ],
      environment: { MODEL_KEY: key },
      config: {
        agents: {
          default: {
            hooks: {
              prepareNextTurn: () => ({ prepend: [{ role: 'user', content: `key ${key}` }] }),
            },
          },
        },
        tools: [
          leaking('answers', () => `the key is ${key}`),
          leaking('details', () => ({ content: 'see', details: { nested: [{ [key]: key }] } })),
          leaking('throws', () => {
            throw new Error(`refused: ${key}`);
          }),
        ],
      },
    });
    const run = await world.client.start('Go');
    await run.result();
    expect((await spoken(run)).slice(2, 5)).toMatchObject([
      expect.stringMatching(/^toolResult: the key is .*MODEL_KEY/) as unknown,
      'toolResult: see',
      expect.stringMatching(/^toolResult: refused: .*MODEL_KEY/) as unknown,
    ]);
    expect(occurrences(await historyText(world, run), key)).toBe(0);
    await expectSound(world, run);
  });

  test('neither the key, the base URL nor a header is in any input or result', async () => {
    await using world = await createAgentWorld({
      script: [reply.text('Hi.')],
      environment: { MODEL_KEY: key, EXTRA: 'header-secret-77' },
      models: (scripted) => ({ default: { ...scripted, headersEnv: { 'x-extra': 'EXTRA' } } }),
    });
    const run = await world.client.start('Go');
    await run.result();
    expect(world.model.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${key}`,
      'x-extra': 'header-secret-77',
    });
    const text = await historyText(world, run);
    for (const secret of [key, 'header-secret-77', world.model.baseURL]) {
      expect(occurrences(text, secret)).toBe(0);
    }
  });

  test('a provider that repeats the key in its error leaves it in no message, event or failure', async () => {
    await using world = await createAgentWorld({
      script: [reply.status(401, { error: { message: `Incorrect API key provided: ${key}` } })],
      environment: { MODEL_KEY: key },
    });
    const run = await world.client.start('Go');
    await expect(run.result()).rejects.toThrow(/Incorrect API key/);
    expect(occurrences(await historyText(world, run), key)).toBe(0);
    expect(JSON.stringify(await messagesOf(run))).not.toContain(key);
  });
});

describe('Temporal’s own views', () => {
  test('each activity has a summary: the turn and its model, the tool and its command', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([
          { name: 'bash', arguments: { command: 'echo one &&\n  echo two' } },
          { name: 'read', arguments: { path: 'notes.txt' } },
        ]),
        reply.text('Done.'),
      ],
      config: { agents: { default: { hooks: { beforeToolCall: () => undefined } } } },
    });
    const run = await world.client.start('Go');
    await run.result();
    const summaries = (await scheduled(world, run)).map(({ type, summary }) => [type, summary]);
    expect(summaries).toContainEqual(['completeChat', 'turn 1 · scripted']);
    expect(summaries).toContainEqual(['completeChat', 'turn 2 · scripted']);
    expect(summaries).toContainEqual(['callTool', 'bash · echo one && echo two']);
    expect(summaries).toContainEqual(['callTool', 'read · notes.txt']);
    expect(summaries).toContainEqual(['beforeToolCall', 'beforeToolCall · bash']);
    await expectSound(world, run);
  });

  test('workflow metadata lists every handler with a description, and shows what goes on', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'bash', arguments: { command: 'echo x' } }], {
          text: 'Let me see.',
        }),
        reply.text('Done.'),
      ],
      config: { agents: { default: { approval: { bash: 'ask' } } } },
    });
    const run = await world.client.start('Go');
    await untilStatus(run, 'waiting_for_approval');
    await run.steer('Hurry');
    const handle = world.client.temporal.workflow.getHandle(run.workflowId);
    const metadata = await handle.query<Metadata>('__temporal_workflow_metadata');
    const names = (list: readonly Handler[] | undefined) => (list ?? []).map(({ name }) => name);
    expect(names(metadata.definition.signalDefinitions)).toEqual(
      expect.arrayContaining([
        'steer',
        'followUp',
        'prompt',
        'continue',
        'abort',
        'approve',
        'deny',
        'close',
      ]),
    );
    expect(names(metadata.definition.queryDefinitions)).toEqual(
      expect.arrayContaining(['state', 'events', 'messages', 'response']),
    );
    expect(names(metadata.definition.updateDefinitions)).toEqual(['submit']);
    const own = [
      ...(metadata.definition.signalDefinitions ?? []),
      ...(metadata.definition.queryDefinitions ?? []),
      ...(metadata.definition.updateDefinitions ?? []),
    ].filter(({ name }) => !name?.startsWith('__'));
    expect(own.filter(({ description }) => (description ?? '').length < 10)).toEqual([]);
    for (const part of [
      'waiting for approval',
      '**Turn:** 1',
      'scripted',
      '`bash`',
      'Let me see.',
    ]) {
      expect(metadata.currentDetails).toContain(part);
    }
    await run.approve();
    await run.result();
    const after = await handle.query<Metadata>('__temporal_workflow_metadata');
    expect(after.currentDetails).toContain('**Status:** closed');
    expect(after.currentDetails).toContain('Done.');
    await expectSound(world, run);
  });
});

interface Handler {
  readonly name?: string;
  readonly description?: string;
}

interface Metadata {
  readonly definition: {
    readonly signalDefinitions?: readonly Handler[];
    readonly queryDefinitions?: readonly Handler[];
    readonly updateDefinitions?: readonly Handler[];
  };
  readonly currentDetails: string;
}

describe('queries', () => {
  test('of a closed run answer as before: state, events, messages and response', async () => {
    await using world = await createAgentWorld({
      script: [reply.text('Done.', { reasoning: 'Hidden thoughts' })],
    });
    const workflowId = randomUUID();
    const run = await world.client.start('Go', { workflowId });
    await run.result();
    await world.stopWorkers();
    await world.addWorker();
    const again = world.client.get(workflowId);
    expect(await again.state()).toMatchObject({
      status: 'closed',
      runs: 1,
      turn: 0,
      transcriptLength: 2,
      usage: { input: 10, output: 5, total: 15 },
    });
    expect(await again.response()).toEqual({ role: 'assistant', content: 'Done.' });
    expect(await messagesOf(again)).toHaveLength(2);
    await expectSound(world, run);
  });

  test('events are paged by `after`: sequence numbers rise by one, and a closed run says that none will come', async () => {
    await using world = await createAgentWorld({
      script: [
        reply.toolCalls([{ name: 'bash', arguments: { command: 'echo x' } }]),
        reply.text('.'),
      ],
    });
    const session = await sessionOf(world, { prompt: 'Go' });
    await untilIdle(session, 1);
    const handle = world.client.temporal.workflow.getHandle(session.workflowId);
    const seen: number[] = [];
    for (let after = 0; ;) {
      const page = await handle.query<Page, [object]>('events', { after, limit: 3 });
      expect(page).toMatchObject({ first: 1, open: true });
      if (page.events.length === 0) break;
      expect(page.events.length).toBeLessThanOrEqual(3);
      seen.push(...page.events.map(({ seq }) => seq));
      expect(page.next).toBe(seen.at(-1));
      after = page.next;
    }
    expect(seen).toEqual(seen.map((_, index) => index + 1));
    await session.close();
    await session.result();
    const end = await handle.query<Page, [object]>('events', { after: seen.length });
    expect(end).toMatchObject({ events: [{ type: 'closed', seq: seen.length + 1 }], open: false });
    await expectSound(world, session);
  });

  test('response names the calls of an answer that asked for tools, and is null before any', async () => {
    await using world = await createAgentWorld({
      script: [reply.toolCalls([{ name: 'bash', arguments: { command: 'echo x' } }])],
      config: { agents: { default: { approval: { bash: 'ask' } } } },
    });
    const session = await sessionOf(world);
    expect(await session.response()).toBeNull();
    await session.prompt('Go');
    await untilStatus(session, 'waiting_for_approval');
    expect(await session.response()).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'bash', arguments: '{"command":"echo x"}' },
        },
      ],
    });
    await session.abort();
    await untilIdle(session, 1);
    await expectSound(world, session);
  });

  test('a message too large for a page comes in slices that make it whole', async () => {
    const long = 'é€😀'.repeat(100_000);
    await using world = await createAgentWorld({ script: [reply.text('Read.')] });
    const run = await world.client.start(long);
    await run.result();
    const handle = world.client.temporal.workflow.getHandle(run.workflowId);
    const page = await handle.query<{ slice?: { text: string } }>('messages');
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(200_000);
    expect(page.slice?.text).toBeDefined();
    expect((await messagesOf(run))[0]).toMatchObject({ content: [{ text: long }] });
    expect(JSON.stringify(world.model.requests[0]?.body)).toContain(long);
    await expectSound(world, run);
  });
});

interface Page {
  readonly events: readonly { readonly seq: number; readonly type: string }[];
  readonly next: number;
  readonly first: number;
  readonly open: boolean;
}
