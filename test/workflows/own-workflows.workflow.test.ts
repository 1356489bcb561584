// Workflows of one's own: several agents in one, hooks as functions of it, its own signals beside ours.

import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import type { AgentHooks } from '../../src/activities/definitions.js';
import { createProgram } from '../../src/cli/program.js';
import { createTerminal } from '../../src/cli/terminal.js';
import type { AgentRun } from '../../src/client/index.js';
import { defineTool } from '../../src/config/index.js';
import type { UserConfig } from '../../src/config/index.js';
import { reply } from '../../src/testing/scripted-model.js';
import type { Script, ScriptedRequestBody } from '../../src/testing/scripted-model.js';
import { bundleOwnWorkflows } from '../../src/worker/own-bundle.js';
import { createAgentWorld, eventsOf, messagesOf } from '../support/agent-world.js';
import type { AgentWorld } from '../support/agent-world.js';
import {
  expectSound,
  gate,
  scheduled,
  spoken,
  untilIdle,
  untilStatus,
} from '../support/session-steps.js';

let bundlePath: string;
beforeAll(async () => {
  const file = fileURLToPath(new URL('../support/own-workflows.ts', import.meta.url));
  bundlePath = await bundleOwnWorkflows(file);
}, 60_000);

const executed: unknown[] = [];
const published: unknown[] = [];
let working = gate();

const echo = defineTool({
  name: 'echo',
  description: 'Says it.',
  parameters: { type: 'object', properties: { text: { type: 'string' } } },
  execute: (args) => {
    executed.push(args['text']);
    return `echo ${args['text'] as string}`;
  },
});

const work = defineTool({
  name: 'work',
  description: 'Works until it is let go on.',
  parameters: { type: 'object', properties: {} },
  execute: async (_, { signal }) => {
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
    });
    await Promise.race([working.passed, aborted]);
    return signal.aborted ? 'stopped' : 'worked';
  },
});

interface OwnWorldOptions {
  readonly script: Script;
  /** Of the agent `default`. */
  readonly hooks?: AgentHooks;
}

function ownWorld({ script, hooks = {} }: OwnWorldOptions): Promise<AgentWorld> {
  executed.length = 0;
  published.length = 0;
  working = gate();
  const config: UserConfig = {
    agents: {
      default: { systemPrompt: 'You are a test.', tools: ['echo', 'work'], hooks },
      writer: { systemPrompt: 'You write.', tools: ['echo', 'work'] },
      reviewer: { systemPrompt: 'You review.', tools: ['work'], model: 'other' },
    },
    tools: [echo, work],
    activities: {
      lookUp: async (name: string) => {
        if (name === 'nobody') throw new Error('nobody is known');
        return `${name}, looked up`;
      },
      publish: async (notes: object) => {
        published.push(notes);
        return 'the front page';
      },
    },
  };
  return createAgentWorld({
    script,
    config,
    bundlePath,
    models: (scripted) => ({ default: scripted, other: { ...scripted, model: 'critic' } }),
  });
}

async function start(
  world: AgentWorld,
  type: string,
  ...args: readonly unknown[]
): Promise<string> {
  const workflowId = `own-${crypto.randomUUID()}`;
  await world.client.temporal.workflow.start(type, {
    workflowId,
    taskQueue: world.taskQueue,
    args: [...args],
  });
  return workflowId;
}

const agentOf = (world: AgentWorld, workflowId: string, agent?: string) =>
  world.client.get<never>(workflowId, { agent });

async function resultOf<T>(world: AgentWorld, workflowId: string): Promise<T> {
  return await world.client.get<T>(workflowId).result();
}

const signal = (world: AgentWorld, workflowId: string, name: string, ...args: readonly unknown[]) =>
  world.client.temporal.workflow.getHandle(workflowId).signal(name, ...args);

/** Replies by who is asked: the system prompt tells. */
const bySystemPrompt =
  (replies: { readonly [start: string]: (turn: number) => ReturnType<typeof reply.text> }) =>
  (body: ScriptedRequestBody) => {
    const prompt = String(body.messages[0]?.content);
    const [, choose] = Object.entries(replies).find(([name]) => prompt.includes(name)) ?? [];
    const turn = body.messages.filter(({ role }) => role === 'assistant').length;
    return choose?.(turn) ?? reply.status(400, { error: { message: `Who is ${prompt}?` } });
  };

const said = (body: ScriptedRequestBody | undefined) =>
  body?.messages.map(({ role, content }) => `${role}: ${textOf(content)}`);

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return content.map((part: { readonly text?: string }) => part.text ?? '').join('\n');
}

const callEcho = (text: string) => reply.toolCalls([{ name: 'echo', arguments: { text } }]);
const callWork = () => reply.toolCalls([{ name: 'work', arguments: {} }]);

type AnyAgent = AgentRun<never>;

const waiting = { timeout: 40_000, interval: 50 };

const isWorking = async (agent: AnyAgent) =>
  (await agent.state()).pendingToolCalls[0]?.status === 'running';

async function untilWorking(agent: AnyAgent): Promise<void> {
  await expect.poll(() => isWorking(agent), waiting).toBe(true);
}

async function expectAllSound(world: AgentWorld, ...agents: readonly AnyAgent[]): Promise<void> {
  for (const agent of agents) await expectSound(world, agent);
}

describe('several agents in one workflow', () => {
  test('one after the other: each has its definition, its transcript, its events and its usage', async () => {
    await using world = await ownWorld({
      script: [callEcho('1.2'), reply.text('What is new in 1.2'), reply.text('Good.')],
    });
    const id = await start(world, 'releaseNotes', { version: '1.2' });
    const writer = agentOf(world, id, 'writer');
    const reviewer = agentOf(world, id, 'reviewer');
    await untilIdle(reviewer, 1);
    await signal(world, id, 'publish', { by: 'Ada' });
    expect(await resultOf(world, id)).toMatchObject({
      draft: {
        stopReason: 'stop',
        response: { content: 'What is new in 1.2' },
        turns: 2,
        newMessages: { from: 0, to: 4 },
        usage: { total: 30 },
      },
      verdict: { response: { content: 'Good.' }, turns: 1, newMessages: { from: 0, to: 3 } },
      place: 'the front page',
      undelivered: [],
    });
    expect(published).toEqual([{ text: 'What is new in 1.2', by: 'Ada' }]);

    const bodies = world.model.requests.map(({ body }) => body);
    expect(said(bodies[1])).toMatchObject([
      'system: You write.',
      'user: Write release notes for 1.2',
      expect.stringMatching(/^assistant/) as unknown,
      'tool: echo 1.2',
    ]);
    expect(said(bodies[2])).toEqual([
      'system: You review.',
      'user: Review this',
      'user: What is new in 1.2',
    ]);
    expect(bodies.map(({ model }) => model)).toEqual(['scripted', 'scripted', 'critic']);
    expect(bodies.map(({ tools }) => tools?.length)).toEqual([2, 2, 1]);

    expect(await spoken(writer)).toEqual([
      'user: Write release notes for 1.2',
      'assistant: ',
      'toolResult: echo 1.2',
      'assistant: What is new in 1.2',
    ]);
    expect((await spoken(reviewer)).at(-1)).toBe('assistant: Good.');
    expect(await writer.state()).toMatchObject({ status: 'closed', name: 'writer', runs: 1 });
    expect(await reviewer.state()).toMatchObject({
      status: 'idle',
      agent: 'reviewer',
      model: 'critic',
      names: ['writer', 'reviewer'],
    });
    // Where none is named, the first is meant.
    expect(await spoken(agentOf(world, id))).toEqual(await spoken(writer));
    expect((await scheduled(world, writer)).map(({ type }) => type)).toEqual([
      'resolveAgent',
      'completeChat',
      'callTool',
      'completeChat',
      'resolveAgent',
      'completeChat',
      'publish',
    ]);
    await expectAllSound(world, writer, reviewer);
  });

  test('at the same time: what is sent to one never reaches the other', async () => {
    await using world = await ownWorld({
      script: bySystemPrompt({
        'You write': (turn) => (turn === 0 ? callWork() : reply.text(`Written ${turn}.`)),
        'You review': (turn) => (turn === 0 ? callWork() : reply.text(`Reviewed ${turn}.`)),
      }),
    });
    const id = await start(world, 'pair');
    const writer = agentOf(world, id, 'writer');
    const reviewer = agentOf(world, id, 'reviewer');
    for (const agent of [writer, reviewer]) await untilWorking(agent);
    await reviewer.steer('For the reviewer', { id: 'same' });
    expect(await writer.submit('steer', 'For the writer', { id: 'same' })).toEqual({
      outcome: 'queued',
    });
    await reviewer.followUp('And one more');
    working.open();
    expect(await resultOf(world, id)).toMatchObject({
      writer: { response: { content: 'Written 1.' } },
      reviewer: { response: { content: 'Reviewed 2.' } },
    });
    expect(await spoken(writer)).toEqual([
      'user: Go',
      'assistant: ',
      'toolResult: worked',
      'user: For the writer',
      'assistant: Written 1.',
    ]);
    expect(await spoken(reviewer)).toEqual([
      'user: Go',
      'assistant: ',
      'toolResult: worked',
      'user: For the reviewer',
      'assistant: Reviewed 1.',
      'user: And one more',
      'assistant: Reviewed 2.',
    ]);
    await expectSound(world, writer, { inputs: [{ id: 'same', message: 'For the writer' }] });
    await expectSound(world, reviewer, { inputs: [{ id: 'same', message: 'For the reviewer' }] });
  });

  test('a worker with an empty cache gives each agent its own transcript, also where they began alike', async () => {
    const alike = (body: ScriptedRequestBody) => {
      const turn = body.messages.filter(({ role }) => role === 'assistant').length;
      return turn % 2 === 0
        ? reply.text(`${String(body.messages[0]?.content)} ${turn}`)
        : callWork();
    };
    await using world = await ownWorld({ script: alike });
    const id = await start(world, 'addressed');
    const agents = ['writer', 'reviewer'].map((name) => agentOf(world, id, name));
    for (const agent of agents) await untilIdle(agent, 1);
    await world.stopWorkers();
    await agents[1]?.steer('Only for the reviewer');
    await signal(world, id, 'go');
    await world.addWorker();
    working.open();
    await resultOf(world, id);
    const later = world.model.requests.slice(2).map(({ body }) => said(body)?.slice(0, 5));
    expect(later).toContainEqual([
      'system: You write.',
      'user: Go',
      'assistant: You write. 0',
      'user: Go',
    ]);
    expect(later).toContainEqual([
      'system: You review.',
      'user: Go',
      'assistant: You review. 0',
      'user: Go',
      'user: Only for the reviewer',
    ]);
    await expectAllSound(world, ...agents);
  });

  test('an abort stops the agent it names and no other, and its reason is in the report', async () => {
    await using world = await ownWorld({ script: () => callWork() });
    const id = await start(world, 'addressed');
    const writer = agentOf(world, id, 'writer');
    const reviewer = agentOf(world, id, 'reviewer');
    for (const agent of [writer, reviewer]) await untilWorking(agent);
    const before = await reviewer.lastSequence();
    await reviewer.abort('it drifts');
    await untilIdle(reviewer, 1);
    expect(await isWorking(writer)).toBe(true);
    await agentOf(world, id).abort();
    await untilIdle(writer, 1);
    expect((await eventsOf(reviewer)).at(-1)).toMatchObject({
      type: 'agent_end',
      stopReason: 'aborted',
      reason: 'it drifts',
    });
    await expectSound(world, reviewer, { abortedAfter: [before] });

    // Cancelling the workflow stops both, and fails no invariant of either.
    await signal(world, id, 'go');
    for (const agent of [writer, reviewer]) await untilWorking(agent);
    await writer.cancel();
    await expect(resultOf(world, id)).rejects.toMatchObject({ kind: 'canceled' });
    await expectAllSound(world, writer, reviewer);
  });

  test('live views of one agent are not shown to the followers of another', async () => {
    await using world = await ownWorld({
      script: bySystemPrompt({
        'You write': () => reply.endless('written '),
        'You review': () => reply.endless('reviewed '),
      }),
    });
    const id = await start(world, 'pair');
    const shown = async (agent: AnyAgent) => {
      let text = '';
      let updates = 0;
      for await (const event of agent.events()) {
        if (event.type !== 'message_update') continue;
        text += event.text;
        updates += 1;
        if (updates === 3) break;
      }
      return text;
    };
    const [first, writer, reviewer] = await Promise.all([
      shown(agentOf(world, id)),
      shown(agentOf(world, id, 'writer')),
      shown(agentOf(world, id, 'reviewer')),
    ]);
    expect(new Set(words(writer))).toEqual(new Set(['written']));
    expect(new Set(words(reviewer))).toEqual(new Set(['reviewed']));
    expect(new Set(words(first))).toEqual(new Set(['written']));
    await agentOf(world, id).cancel();
    await expect(resultOf(world, id)).rejects.toMatchObject({ kind: 'canceled' });
  });

  test('the Web UI shows what each of them is doing', async () => {
    await using world = await ownWorld({ script: () => callWork() });
    const id = await start(world, 'pair');
    for (const name of ['writer', 'reviewer']) await untilWorking(agentOf(world, id, name));
    const handle = world.client.temporal.workflow.getHandle(id);
    const metadata = await handle.query<{ readonly currentDetails: string }>(
      '__temporal_workflow_metadata',
    );
    expect(metadata.currentDetails).toMatch(/### writer[^#]*`work`[^#]*### reviewer[^#]*`work`/);
    await handle.cancel();
    working.open();
    await expect(handle.result()).rejects.toThrow('cancelled');
  });
});

const words = (text: string) => text.match(/written|reviewed/g) ?? [];

describe('addressing', () => {
  test('an agent that does not exist is rejected with a reason, recorded by the first; a query of it says so', async () => {
    await using world = await ownWorld({ script: () => callWork() });
    const id = await start(world, 'pair');
    const writer = agentOf(world, id, 'writer');
    await untilStatus(writer, 'running');
    const nobody = agentOf(world, id, 'nobody');
    const reason =
      'There is no agent named "nobody" in this workflow; its agents: writer, reviewer.';
    await nobody.steer('Hello?');
    await expect.poll(() => rejectionsOf(writer), waiting).toEqual([reason]);
    expect(await nobody.submit('steer', 'Hello?')).toEqual({ outcome: 'rejected', reason });
    await expect(nobody.state()).rejects.toThrow(reason);
    await expect(nobody.messages()[Symbol.asyncIterator]().next()).rejects.toThrow(reason);
    await expect(nobody.events()[Symbol.asyncIterator]().next()).rejects.toThrow(reason);
    await writer.cancel();
    await expect(resultOf(world, id)).rejects.toMatchObject({ kind: 'canceled' });
  });

  test('the command line names an agent by --agent', async () => {
    await using world = await ownWorld({ script: () => callWork() });
    const id = await start(world, 'pair');
    const reviewer = agentOf(world, id, 'reviewer');
    const writer = agentOf(world, id, 'writer');
    for (const agent of [writer, reviewer]) await untilWorking(agent);
    const holdfast = async (command: string, ...args: readonly string[]) => {
      let written = '';
      const terminal = { ...createTerminal(), write: (text: string) => (written += text) };
      const flags = ['--agent', 'reviewer', '--address', inject('serverAddress'), '--json'];
      const words = [command, id, ...args, ...flags];
      await createProgram(terminal).parseAsync(words, { from: 'user' });
      return written;
    };
    expect(JSON.parse(await holdfast('state'))).toMatchObject({ name: 'reviewer' });
    expect(await holdfast('messages')).toContain('"role":"assistant"');
    expect(await holdfast('steer', 'Hi')).toBe('{"outcome":"queued"}\n');
    expect(await holdfast('abort', '--reason', 'enough')).toBe('{"outcome":"accepted"}\n');
    await untilIdle(reviewer, 1);
    expect(await holdfast('events')).toMatch(/"type":"agent_end".*"reason":"enough"/);
    await untilWorking(writer);
    await reviewer.cancel();
    await expect(resultOf(world, id)).rejects.toMatchObject({ kind: 'canceled' });
  });

  test('an abort of a run whose hook runs another agent ends both without waiting for its bound', async () => {
    await using world = await ownWorld({ script: () => callWork() });
    const id = await start(world, 'consulting');
    const writer = agentOf(world, id, 'writer');
    const reviewer = agentOf(world, id, 'reviewer');
    await untilWorking(reviewer);
    await writer.abort();
    expect(await resultOf(world, id)).toEqual({ stopReason: 'aborted', reviewer: 'idle' });
    const history = await world.client.temporal.workflow.getHandle(id).fetchHistory();
    const fired = history.events?.filter((event) => event.timerFiredEventAttributes != null);
    expect(fired).toEqual([]);
    await expectAllSound(world, writer, reviewer);
  });

  test('prompt, continue and close are rejected while the workflow’s code runs the agent', async () => {
    await using world = await ownWorld({ script: () => callWork() });
    const id = await start(world, 'pair');
    const reviewer = agentOf(world, id, 'reviewer');
    await untilStatus(reviewer, 'running');
    for (const kind of ['prompt', 'continue', 'close'] as const) {
      expect(await reviewer.submit(kind, kind === 'prompt' ? 'Hi' : undefined)).toMatchObject({
        outcome: 'rejected',
        reason: expect.stringMatching(
          /^The agent reviewer is run by the code of its workflow.*steer or followUp/,
        ) as unknown,
      });
    }
    expect(await rejectionsOf(reviewer)).toHaveLength(3);
    await reviewer.cancel();
    await expect(resultOf(world, id)).rejects.toMatchObject({ kind: 'canceled' });
    await expectSound(world, reviewer);
  });

  test('the workflow agent itself is addressed by the name of its definition, and by no other', async () => {
    await using world = await ownWorld({ script: () => callWork() });
    const session = await world.client.start({ prompt: 'Go', lifetime: 'session' });
    await untilStatus(session, 'running');
    const id = session.workflowId;
    expect(await agentOf(world, id, 'default').submit('steer', 'Hi')).toEqual({
      outcome: 'queued',
    });
    expect(await agentOf(world, id, 'writer').submit('steer', 'Hi')).toMatchObject({
      outcome: 'rejected',
    });
    await session.cancel();
    await expect(session.result()).rejects.toMatchObject({ kind: 'canceled' });
  });

  test('nothing that anyone sends wedges the workflow or reaches an agent it is not for', async () => {
    await using world = await ownWorld({ script: () => callWork() });
    const id = await start(world, 'pair');
    const writer = agentOf(world, id, 'writer');
    const reviewer = agentOf(world, id, 'reviewer');
    await untilStatus(reviewer, 'running');
    const garbage = [
      null,
      0,
      '',
      [],
      {},
      { agent: 7, text: 'x' },
      { agent: {}, text: 'x' },
      { agent: '', text: 'x' },
      { agent: '__proto__', text: 'x' },
      { agent: 'writer' },
      { agent: ['writer'], text: 'x' },
    ];
    for (const value of garbage) {
      for (const name of ['steer', 'followUp', 'prompt', 'continue', 'approve', 'deny', 'close']) {
        await signal(world, id, name, value);
      }
    }
    await signal(world, id, 'steer', 'x', 'y', 'z');
    const handle = world.client.temporal.workflow.getHandle(id);
    for (const value of garbage) {
      for (const query of ['state', 'events', 'messages', 'response', 'context']) {
        await handle.query(query, value).catch(() => undefined);
      }
      await handle.executeUpdate('submit', { args: [value] });
      await handle.executeUpdate('submit', {
        args: [{ kind: 'steer', message: 'x', agent: value }],
      });
    }
    expect((await reviewer.state()).queues).toMatchObject({ steeringLength: 0, followUpLength: 0 });
    working.open();
    await reviewer.abort();
    await writer.abort();
    await resultOf(world, id);
    await expectAllSound(world, writer, reviewer);
  });
});

async function rejectionsOf(agent: AnyAgent): Promise<readonly string[]> {
  return (await eventsOf(agent)).flatMap((event) =>
    event.type === 'rejected' ? [event.reason] : [],
  );
}

interface Guarded {
  readonly report: { readonly stopReason: string; readonly turns: number };
  readonly seen: readonly string[];
}

describe('hooks as functions of the workflow', () => {
  test('beforeToolCall may wait for a signal of the workflow’s own; an abort ends its wait', async () => {
    await using world = await ownWorld({
      script: [callEcho('one'), callEcho('two'), reply.text('Done.')],
    });
    const id = await start(world, 'guarded', ['beforeToolCall waits']);
    const agent = agentOf(world, id);
    const seen = () => world.client.temporal.workflow.getHandle(id).query<string[]>('seen');
    await expect.poll(seen, waiting).toHaveLength(1);
    expect(executed).toEqual([]);
    expect((await agent.state()).pendingToolCalls).toMatchObject([{ status: 'preparing' }]);
    const [first] = (await eventsOf(agent)).filter(({ type }) => type === 'tool_execution_start');
    await signal(
      world,
      id,
      'allow',
      first !== undefined && 'toolCallId' in first ? first.toolCallId : '',
    );
    await expect.poll(seen, waiting).toHaveLength(2);
    expect(executed).toEqual(['one']);
    const before = await agent.lastSequence();
    await agent.abort();
    expect(await resultOf(world, id)).toMatchObject({
      report: { stopReason: 'aborted', turns: 2 },
    });
    expect((await spoken(agent)).at(-1)).toBe('toolResult: Aborted. This call was not executed.');
    await expectSound(world, agent, { abortedAfter: [before], executed: ['call_1'] });
  });

  test.each([
    ['blocks', 'echo is not for turn 2', []],
    ['throws', 'not executed, because the check before it failed: cannot check', []],
    ['fails', 'the check before it failed: nobody is known', []],
    ['returnsNonsense', 'beforeToolCall.block: expected true or false, got "yes".', []],
    ['mutates', 'the check before it failed: Cannot assign to read only', []],
    ['replaces', 'echo hi, looked up', ['hi, looked up']],
  ])('a beforeToolCall that %s', async (name, text, ran) => {
    await using world = await ownWorld({ script: [callEcho('hi'), reply.text('Done.')] });
    const id = await start(world, 'guarded', [`beforeToolCall ${name}`]);
    await resultOf(world, id);
    const agent = agentOf(world, id);
    expect((await spoken(agent))[2]).toContain(text);
    expect(said(world.model.requests[1]?.body)?.at(-1)).toContain(text);
    expect(executed).toEqual(ran);
    // The transcript keeps the model's own arguments.
    expect((await messagesOf(agent))[1]).toMatchObject({
      content: [{ type: 'toolCall', arguments: { text: 'hi' } }],
    });
    await expectSound(world, agent);
  });

  test('with hooks of the worker’s: before, the workflow’s come first; after and between turns, last', async () => {
    const asked: string[] = [];
    await using world = await ownWorld({
      script: [callEcho('hi'), reply.text('Never asked for.')],
      hooks: {
        beforeToolCall: ({ args }) => {
          asked.push(`before ${args['text'] as string}`);
          return { arguments: { text: `${args['text'] as string}, by the worker` } };
        },
        afterToolCall: ({ result }) => {
          asked.push('after');
          return { content: [...result.content, { type: 'text', text: 'more' }], details: 'kept' };
        },
        prepareNextTurn: () => {
          asked.push('prepare');
          return { systemPrompt: 'Changed by the worker.', thinkingLevel: 'low' };
        },
        shouldStopAfterTurn: ({ systemPrompt }) => {
          asked.push(`stop? ${systemPrompt ?? ''}`);
          return false;
        },
      },
    });
    const id = await start(world, 'guarded', [
      'beforeToolCall replaces',
      'afterToolCall redacts',
      'prepareNextTurn changes',
      'shouldStopAfterTurn stops',
    ]);
    const { report, seen } = await resultOf<Guarded>(world, id);
    expect(report).toMatchObject({ stopReason: 'toolUse', turns: 1 });
    expect(executed).toEqual(['hi, looked up, by the worker']);
    expect(asked).toEqual([
      'before hi, looked up',
      'after',
      'prepare',
      'stop? Changed by the workflow.',
    ]);
    expect(seen).toEqual([
      'after echo hi, looked up, by the worker',
      'prepare 1 Changed by the worker. default',
      'stop 2 of 3, Changed by the workflow.',
    ]);
    const agent = agentOf(world, id);
    expect((await messagesOf(agent))[2]).toMatchObject({
      content: [{ type: 'text', text: 'reviewed by default in turn 1' }],
      details: 'kept',
    });
    await expectSound(world, agent);
  });

  test('a changed view holds for the rest of the run, and the transcript is not rewritten', async () => {
    await using world = await ownWorld({
      script: [callEcho('hi'), callEcho('ho'), reply.text('Done.')],
    });
    const id = await start(world, 'guarded', ['prepareNextTurn changes']);
    await resultOf(world, id);
    const agent = agentOf(world, id);
    for (const index of [1, 2]) {
      expect(said(world.model.requests[index]?.body)?.slice(0, 2)).toEqual([
        'system: Changed by the workflow.',
        expect.stringMatching(/^assistant/),
      ]);
    }
    expect((await spoken(agent))[0]).toBe('user: Go');
    await expectSound(world, agent);
  });

  test.each([
    ['throws', 'prepareNextTurn: no next turn'],
    ['throwsNoError', 'prepareNextTurn: it threw a value that is no Error and has no text'],
    [
      'namesNoModel',
      'prepareNextTurn: prepareNextTurn.model: expected default or other, got "gpt-none".',
    ],
  ])('a prepareNextTurn that %s fails the run with HookError', async (name, message) => {
    await using world = await ownWorld({ script: [callEcho('hi')] });
    const id = await start(world, 'guarded', [`prepareNextTurn ${name}`]);
    await expect(resultOf(world, id)).rejects.toMatchObject({ type: 'HookError', message });
    await expectSound(world, agentOf(world, id));
  });

  test('a result may end the batch; what of it is no JSON becomes JSON', async () => {
    await using world = await ownWorld({ script: [callEcho('hi')] });
    const id = await start(world, 'guarded', ['afterToolCall stops']);
    expect(await resultOf(world, id)).toMatchObject({ report: { turns: 1 } });
    const agent = agentOf(world, id);
    expect((await messagesOf(agent))[2]).toMatchObject({
      content: [{ text: 'echo hi' }],
      details: { at: '1970-01-01T00:00:00.000Z' },
    });
    await expectSound(world, agent);
  });

  test('an abort does not wait for a hook that ignores it, nor records what the hook has not seen', async () => {
    await using world = await ownWorld({ script: [callEcho('secret')] });
    const id = await start(world, 'guarded', ['afterToolCall hangs']);
    const agent = agentOf(world, id);
    await expect
      .poll(() => world.client.temporal.workflow.getHandle(id).query<string[]>('seen'), waiting)
      .toEqual(['after hangs']);
    const before = await agent.lastSequence();
    await agent.abort();
    expect(await resultOf(world, id)).toMatchObject({ report: { stopReason: 'aborted' } });
    const last = (await spoken(agent)).at(-1);
    expect(last).toContain('not recorded because the run was aborted');
    expect(last).not.toContain('secret');
    await expectSound(world, agent, { abortedAfter: [before] });
  });
});

describe('runs of an agent', () => {
  test('a prompt that comes with the start waits for serve()', async () => {
    await using world = await ownWorld({
      script: [reply.text('Hello.'), reply.text('Summed up.')],
    });
    await world.stopWorkers();
    const id = await start(world, 'servedThenRun');
    const agent = agentOf(world, id, 'helper');
    await agent.prompt('Hi');
    await agent.close();
    await world.addWorker();
    await resultOf(world, id);
    expect((await spoken(agent)).slice(0, 3)).toEqual([
      'user: Hi',
      'assistant: Hello.',
      'user: Sum up',
    ]);
    await expectSound(world, agent);
  });

  test('served to people, then run by code: the transcript goes on', async () => {
    await using world = await ownWorld({
      script: (body) => reply.text(`Answer ${body.messages.length}`),
    });
    const id = await start(world, 'servedThenRun');
    const agent = agentOf(world, id, 'helper');
    await agent.prompt('Hello');
    await untilIdle(agent, 1);
    expect(await agent.submit('prompt', 'And?')).toEqual({ outcome: 'started' });
    await untilIdle(agent, 2);
    await agent.followUp('For later');
    await agent.close();
    expect(await resultOf(world, id)).toMatchObject({
      first: { endedBy: 'closed' },
      second: { endedBy: 'idle' },
      report: { response: { content: 'Answer 8' }, turns: 2, newMessages: { from: 4, to: 8 } },
    });
    expect(await spoken(agent)).toEqual([
      'user: Hello',
      'assistant: Answer 2',
      'user: And?',
      'assistant: Answer 4',
      'user: Sum up',
      'assistant: Answer 6',
      'user: For later',
      'assistant: Answer 8',
    ]);
    await expectSound(world, agent, { inputs: [{ message: 'For later' }] });
  });

  test('a cancelled scope aborts its run and throws; the agent can run again, and other scopes go on', async () => {
    await using world = await ownWorld({ script: [callWork(), reply.text('Back.')] });
    const id = await start(world, 'scoped');
    const agent = agentOf(world, id, 'default');
    await untilWorking(agent);
    await signal(world, id, 'go');
    expect(await resultOf(world, id)).toMatchObject({
      told: 'cancelled',
      inCancelled: 'cancelled',
      report: { stopReason: 'stop', response: { content: 'Back.' } },
    });
    expect(await spoken(agent)).toEqual([
      'user: Go',
      'assistant: ',
      'toolResult: stopped',
      'user: Again',
      'assistant: Back.',
    ]);
    expect(await messagesOf(agentOf(world, id, 'other'))).toEqual([]);
    await expectSound(world, agent);
  });

  test('what cannot be is a final failure that says what to do', async () => {
    await using world = await ownWorld({ script: [callEcho('hi'), reply.text('Done.')] });
    const id = await start(world, 'misuses');
    const agent = agentOf(world, id);
    await untilStatus(agent, 'closed');
    expect(await agent.submit('steer', 'Hi')).toMatchObject({ outcome: 'rejected' });
    const result = await resultOf<{ outcomes: readonly string[]; undelivered: unknown[] }>(
      world,
      id,
    );
    expect(result.outcomes).toEqual([
      'InvalidInput: createAgent: this workflow has an agent named writer already; give one of them another `name`.',
      expect.stringMatching(
        /^InvalidInput: createAgent: prompt: unknown field; known are messages, /,
      ),
      'InvalidInput: createAgent: name: expected a name (letters, digits and . : / @ _ - only, at most 100), got "no name at all".',
      'InvalidInput: createAgent: hooks.beforeToolCal: unknown field; known are beforeToolCall, afterToolCall, prepareNextTurn, shouldStopAfterTurn.',
      'InvalidInput: prompt: the text is empty.',
      'InvalidInput: Nothing to continue: the transcript is empty.',
      'InvalidInput: idleTimeout: expected milliseconds or a text like "30 minutes", got "soon".',
      'InvalidInput: message: the text is empty.',
      ...Array.from(
        { length: 4 },
        () =>
          'AgentNotIdle: The agent writer is in a run; await it, or say more with steer() or followUp().',
      ),
      'AgentNotIdle: The agent writer was closed; create another.',
      'AgentNotIdle: The agent writer was closed; create another.',
    ]);
    expect(result).toMatchObject({
      undelivered: [{ kind: 'followUp', preview: 'Left over' }],
      left: [{ preview: 'Left over' }],
    });
    await expectSound(world, agent, { inputs: [{ message: 'Left over' }] });
  });

  test('a model failure is thrown, shown in state, and leaves the agent usable; the queue waits', async () => {
    await using world = await ownWorld({
      script: [
        reply.status(400, { error: { message: 'No such thing' } }),
        reply.text('Fine.'),
        reply.text('Also.'),
      ],
    });
    const id = await start(world, 'failing');
    expect(await resultOf(world, id)).toMatchObject({
      failure: expect.stringMatching(/^ModelError: .*No such thing/) as unknown,
      lastError: expect.stringContaining('No such thing') as unknown,
      report: { response: { content: 'Also.' }, turns: 2 },
      messages: 6,
    });
    await expectSound(world, agentOf(world, id), { inputs: [{ message: 'And this' }] });
  });
});
