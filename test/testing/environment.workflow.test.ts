import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/config/index.js';
import {
  createTestEnvironment,
  findViolations,
  recordSession,
  reply,
} from '../../src/testing/index.js';
import type { TestEnvironment } from '../../src/testing/index.js';
import '../support/provided.js';
import { untilStatus } from '../support/session-steps.js';

const heard: unknown[] = [];

const slowly = defineTool({
  name: 'slowly',
  description: 'Takes its time.',
  parameters: z.object({ seconds: z.number(), note: z.string().default('none') }),
  effects: 'non-idempotent',
  execute: async (args) => {
    heard.push(args);
    await new Promise((resolve) => setTimeout(resolve, args.seconds * 1000));
    return 'It is done.';
  },
});

const config = {
  tools: [slowly],
  agents: { default: {}, careful: { approval: { bash: 'ask' as const } } },
};

const hour = 3_600_000;

describe('a test environment that skips time', () => {
  let environment: TestEnvironment;
  beforeAll(async () => {
    environment = await createTestEnvironment({ config, timeSkipping: true });
  });
  afterAll(() => environment.close());

  test('an agent answers, and its own tool is called with its arguments', async () => {
    const { client, model } = environment;
    model.add(
      reply.toolCalls([{ name: 'slowly', arguments: { seconds: 0, note: 'hello' } }]),
      reply.text('So it is.'),
    );
    const run = await client.start({ prompt: 'Hi' });
    const { stopReason, response } = await run.result();
    expect([stopReason, response?.content]).toEqual(['stop', 'So it is.']);
    expect(heard).toEqual([{ seconds: 0, note: 'hello' }]);
    expect(model.requests.at(-1)?.body.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: 'It is done.',
    });
    expect(findViolations(await recordSession(run))).toEqual([]);
  });

  test('an idle hour passes at once, and no years after it', async () => {
    const { client, model } = environment;
    model.add(reply.text('Hello!'));
    const before = await environment.currentTimeMs();
    const run = await client.start({
      prompt: 'Hi',
      lifetime: 'session',
      idleTimeout: '1 hour',
    });
    expect(await run.result()).toMatchObject({ runs: 1 });
    const passed = (await environment.currentTimeMs()) - before;
    expect(passed).toBeGreaterThanOrEqual(hour);
    expect(passed).toBeLessThan(1_000 * hour);
    expect(findViolations(await recordSession(run))).toEqual([]);
  });

  test('the minute that a provider asks to wait passes at once', async () => {
    const { client, model } = environment;
    model.add(
      reply.status(429, { error: { message: 'Too many.' } }, { 'retry-after': '60' }),
      reply.text('Now.'),
    );
    const before = await environment.currentTimeMs();
    const run = await client.start({ prompt: 'Hi' });
    expect((await run.result()).response?.content).toBe('Now.');
    expect((await environment.currentTimeMs()) - before).toBeGreaterThanOrEqual(60_000);
  });

  test('six failures of the provider and the waits between them are over at once', async () => {
    const { client, model } = environment;
    const asked = model.requests.length;
    model.add(...Array.from({ length: 6 }, () => reply.status(503)));
    const run = await client.start({ prompt: 'Hi' });
    await expect(run.result()).rejects.toThrow('6 attempts failed');
    expect(model.requests.length - asked).toBe(6);
    expect(findViolations(await recordSession(run))).toEqual([]);
  });

  test('an approval is waited for while the result is awaited, and given', async () => {
    const { client, model } = environment;
    model.add(
      reply.toolCalls([{ name: 'bash', arguments: { command: 'echo yes > answer.txt' } }]),
      reply.text('Done.'),
    );
    const run = await client.start({ prompt: 'Answer', agent: 'careful' });
    const result = run.result();
    await untilStatus(run, 'waiting_for_approval');
    expect(existsSync(join(environment.workspace, 'answer.txt'))).toBe(false);
    await run.approve();
    expect((await result).stopReason).toBe('stop');
    expect(existsSync(join(environment.workspace, 'answer.txt'))).toBe(true);
    expect(findViolations(await recordSession(run))).toEqual([]);
  });

  test('a tool that takes longer than its heartbeat time-out is not cut short by skipped time', async () => {
    const { client, model } = environment;
    heard.length = 0;
    model.add(
      reply.toolCalls([{ name: 'slowly', arguments: { seconds: 6 } }]),
      reply.text('That took a while.', { delayMs: 900 }),
    );
    const run = await client.start({ prompt: 'Wait' });
    const { stopReason, turns } = await run.result();
    expect([stopReason, turns]).toEqual(['stop', 2]);
    // It may run once only: an attempt that was given up would have an unknown outcome.
    expect(heard).toEqual([{ seconds: 6, note: 'none' }]);
    const { messages } = await recordSession(run);
    expect(messages[2]).toMatchObject({ role: 'toolResult', isError: false });
  });

  test('sleep lets time pass while nobody awaits a result', async () => {
    const { client, model } = environment;
    model.add(reply.text('Hello!'));
    const run = await client.start({ prompt: 'Hi', lifetime: 'session', idleTimeout: '30 days' });
    await untilStatus(run, 'idle');
    await environment.sleep('29 days');
    expect((await run.state()).status).toBe('idle');
    await environment.sleep('2 days');
    await untilStatus(run, 'closed');
  });

  test('steering, a follower, an update and an abort work as on any server', async () => {
    const { client, model } = environment;
    model.add(
      reply.text('One two three', { chunkSize: 3, delayMs: 150 }),
      reply.text('Four'),
      reply.hang(),
    );
    const run = await client.start({ prompt: 'Count', lifetime: 'session' });
    await run.followUp('Go on');
    const seen: string[] = [];
    const outcomes: unknown[] = [];
    for await (const event of run.events()) {
      seen.push(event.type);
      if (event.type === 'agent_end' && (await run.state()).runs === 1) {
        const asked = model.requests.length;
        outcomes.push(await run.submit('prompt', 'And now'));
        await model.request(asked);
        await run.abort('enough');
      } else if (event.type === 'agent_end') await run.close();
    }
    expect(seen).toContain('message_update');
    expect(outcomes).toEqual([{ outcome: 'started' }]);
    expect(await run.result()).toMatchObject({ runs: 2, undelivered: [] });
    expect(findViolations(await recordSession(run))).toEqual([]);
  });
});

describe('a test environment on a local server', () => {
  test('is a whole server: agents can be listed', async () => {
    await using environment = await createTestEnvironment({ config, script: [reply.text('Hi!')] });
    const run = await environment.client.start('Hi');
    await run.result();
    await expect
      .poll(
        async () => {
          const listed: string[] = [];
          for await (const { workflowId } of environment.client.list()) listed.push(workflowId);
          return listed;
        },
        { timeout: 20_000 },
      )
      .toEqual([run.workflowId]);
    expect(findViolations(await recordSession(run))).toEqual([]);
  });
});

describe("a test environment with workflows of one's own", () => {
  const workflows = new URL('../../examples/own-workflow/workflows.ts', import.meta.url);
  const start = ({ client, taskQueue }: TestEnvironment) =>
    client.temporal.workflow.start('article', {
      workflowId: `article-${crypto.randomUUID()}`,
      taskQueue,
      args: ['tea'],
    });

  test('thirty days in which nobody says a word pass at once', async () => {
    await using environment = await createTestEnvironment({
      config: { agents: { writer: {}, reviewer: {} } },
      workflowsPath: fileURLToPath(workflows),
      timeSkipping: true,
      script: [
        reply.text('Tea is hot.'),
        reply.text('It is too short.'),
        reply.toolCalls([{ name: 'write', arguments: { path: 'article.md', content: 'Tea.' } }]),
        reply.text('It is not saved.'),
      ],
    });
    const before = await environment.currentTimeMs();
    const handle = await start(environment);
    expect(await handle.result()).toBe('It is not saved.');
    expect((await environment.currentTimeMs()) - before).toBeGreaterThan(30 * 24 * hour);
    const told = environment.model.requests.at(-1)?.body.messages.at(-1);
    expect(told?.content).toContain('Nobody agreed to publish it.');
    for (const agent of ['writer', 'reviewer']) {
      const session = environment.client.get(handle.workflowId, { agent });
      expect(findViolations(await recordSession(session))).toEqual([]);
    }
  });
});

describe('createTestEnvironment', () => {
  const address = inject('serverAddress');

  test('gives an empty workspace to each workspace of the config, and removes it', async () => {
    let workspace = '';
    {
      await using environment = await createTestEnvironment({
        address,
        config: { workspaces: { default: { root: process.cwd() } } },
        script: [
          reply.toolCalls([{ name: 'bash', arguments: { command: 'ls; pwd' } }]),
          reply.text('Listed.'),
        ],
      });
      ({ workspace } = environment);
      await writeFile(join(workspace, 'notes.txt'), 'x');
      const run = await environment.client.start('List');
      await run.result();
      const { messages } = await recordSession(run);
      expect(messages[2]).toMatchObject({ content: [{ text: `notes.txt\n${workspace}` }] });
    }
    expect(existsSync(workspace)).toBe(false);
  });

  test('serves named workspaces too, each in a folder of its own', async () => {
    await using environment = await createTestEnvironment({
      address,
      config: { workspaces: { default: { root: '.' }, site: { root: '/srv/site' } } },
      script: [
        reply.toolCalls([{ name: 'bash', arguments: { command: 'pwd' } }]),
        reply.text('That is it.'),
      ],
    });
    const run = await environment.client.start({ prompt: 'Where?', workspace: 'site' });
    await run.result();
    const { messages } = await recordSession(run);
    const site = join(dirname(environment.workspace), 'site');
    expect(messages[2]).toMatchObject({ content: [{ text: site }] });
  });

  test('wires the scripted model as every model of the config, and gives it no key', async () => {
    await using environment = await createTestEnvironment({
      address,
      config: {
        models: {
          default: { model: 'gpt-5-mini', apiKeyEnv: 'SOME_KEY' },
          local: {
            model: 'qwen3',
            baseURL: 'http://127.0.0.1:9/v1',
            headersEnv: { x: 'SOME_KEY' },
          },
        },
      },
      environment: { ...process.env, SOME_KEY: 'sk-secret-0001' },
      script: ({ model }) => reply.text(`I am ${model}.`),
    });
    for (const [model, id] of [
      ['default', 'gpt-5-mini'],
      ['local', 'qwen3'],
    ] as const) {
      const run = await environment.client.start({ prompt: 'Hi', model });
      expect((await run.result()).response?.content).toBe(`I am ${id}.`);
    }
    const headers = environment.model.requests.map((request) => JSON.stringify(request.headers));
    expect(headers.join()).not.toContain('sk-secret-0001');
  });

  test('a run beyond the script fails at once with a sentence, and so does the end of the test', async () => {
    const environment = await createTestEnvironment({ address });
    const run = await environment.client.start('Hi');
    await expect(run.result()).rejects.toThrow('The script has run out: request 0 has no reply.');
    await expect(environment.close()).rejects.toThrow('The script has run out');
  });

  test('leaves nothing behind that a test did not wait for', async () => {
    const environment = await createTestEnvironment({ address, script: [reply.hang()] });
    const run = await environment.client.start('Hi');
    await environment.model.request(0);
    const started = performance.now();
    await environment.close();
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(existsSync(environment.workspace)).toBe(false);
    expect(run.workflowId).not.toBe('');
  });

  test('closed while a result is awaited, it ends that wait with an error, and nothing else', async () => {
    const environment = await createTestEnvironment({ script: [reply.hang()] });
    const run = await environment.client.start('Hi');
    const result = run.result().then(
      () => 'a result',
      (error: unknown) => error,
    );
    await environment.model.request(0);
    // An uncaught error of a timer would fail the file.
    await environment.close();
    expect(await result).toBeInstanceOf(Error);
  });

  test('a config that is wrong is told, and starts nothing', async () => {
    await expect(
      createTestEnvironment({ address, config: { agents: { default: { tools: ['nothing'] } } } }),
    ).rejects.toThrow(/nothing/);
  });

  test('a server that runs already does not skip time, which is said', async () => {
    await expect(createTestEnvironment({ address, timeSkipping: true })).rejects.toThrow(
      'A server that runs already does not skip time; leave out address or timeSkipping.',
    );
  });
});
