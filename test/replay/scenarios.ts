// Different runs, whose histories are kept. A history is recorded once; a scenario added later gets
// its own file and leaves the others as they are.

import { defineTool } from '../../src/config/index.js';
import type { UserConfig } from '../../src/config/index.js';
import { chunk, reply, step } from '../../src/testing/scripted-model.js';
import type { Script } from '../../src/testing/scripted-model.js';
import type { AgentWorld } from '../support/agent-world.js';

export interface Scenario {
  readonly name: string;
  readonly script: Script;
  readonly config?: UserConfig;
  /** Plays it and returns the workflow's id; the workflow has closed. */
  readonly play: (world: AgentWorld) => Promise<string>;
}

const runOnce =
  (input: Parameters<AgentWorld['client']['start']>[0]) =>
  async ({ client }: AgentWorld): Promise<string> => {
    const run = await client.start(input);
    await run.result().catch(() => undefined);
    return run.workflowId;
  };

const bash = (command: string, id?: string) => ({
  name: 'bash',
  arguments: { command },
  ...(id === undefined ? {} : { id }),
});

/** Until something holds; scenarios wait on states, never on time. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}

const agentWith = (agent: NonNullable<UserConfig['agents']>[string]): UserConfig => ({
  agents: { default: { tools: ['bash', 'read', 'write', 'edit'], ...agent } },
});

export const scenarios: readonly Scenario[] = [
  {
    name: 'plain-answer',
    script: [reply.text('Hello to you.', { reasoning: 'A greeting.' })],
    play: runOnce('Hello'),
  },
  {
    name: 'parallel-and-sequential-tools',
    script: [
      reply.toolCalls([bash('echo one'), bash('echo two'), { name: 'nonsense', arguments: {} }]),
      reply.toolCalls([
        { name: 'write', arguments: { path: 'a.txt', content: 'alpha' } },
        { name: 'edit', arguments: { path: 'a.txt', oldText: 'alpha', newText: 'beta' } },
        { name: 'read', arguments: { path: 'a.txt' } },
      ]),
      reply.text('Done.'),
    ],
    play: runOnce({ prompt: 'Work.', limits: { maxTurns: 10, maxTotalTokens: 100_000 } }),
  },
  {
    name: 'steering-and-follow-up',
    script: [
      reply.toolCalls([bash('sleep 1')]),
      reply.text('First answer.'),
      reply.text('Second answer.'),
    ],
    async play({ client, model }) {
      const run = await client.start('Begin.');
      await model.request(0);
      await run.steer('Mind the gap.', { id: 'steer-1' });
      await run.steer('Mind the gap.', { id: 'steer-1' });
      await run.followUp('And then?');
      await run.result();
      return run.workflowId;
    },
  },
  {
    name: 'abort-of-a-model-call',
    script: [reply.raw([chunk.text('Half an'), step.hang])],
    async play({ client, model }) {
      const run = await client.start('Talk.');
      await model.request(0);
      await run.abort('enough');
      await run.result();
      return run.workflowId;
    },
  },
  {
    name: 'cancel-during-a-batch',
    script: [reply.toolCalls([bash('sleep 60', 'a'), bash('sleep 60', 'b')])],
    async play({ client }) {
      const run = await client.start('Wait.');
      const isRunning = async () =>
        (await run.state()).pendingToolCalls.filter(({ status }) => status === 'running').length ===
        2;
      await until(isRunning);
      await run.followUp('Never mind.');
      await run.cancel();
      await run.result().catch(() => undefined);
      return run.workflowId;
    },
  },
  {
    name: 'approvals',
    config: agentWith({ approval: { bash: 'ask', write: 'deny' } }),
    script: [
      reply.toolCalls([
        bash('echo yes', 'a'),
        bash('echo no', 'b'),
        { name: 'read', arguments: { path: 'none.txt' }, id: 'c' },
      ]),
      reply.toolCalls([{ name: 'write', arguments: { path: 'x', content: 'x' } }]),
      reply.text('As you wish.'),
    ],
    async play({ client }) {
      const run = await client.start('Ask me.');
      await until(async () => (await run.state()).pendingApprovals.length === 2);
      await run.approve({ toolCallId: 'nonsense' });
      await run.deny({ toolCallId: 'b', reason: 'not that one' });
      await run.approve();
      await run.result();
      return run.workflowId;
    },
  },
  {
    name: 'hooks',
    config: {
      agents: {
        default: {
          tools: ['bash'],
          hooks: {
            beforeToolCall: ({ args }) =>
              args['command'] === 'blocked'
                ? { block: true, reason: 'not today' }
                : { arguments: { command: 'echo replaced' } },
            afterToolCall: () => ({ details: { seen: true } }),
            prepareNextTurn: ({ turn }) =>
              turn === 1
                ? {
                    systemPrompt: 'Be brief.',
                    dropBefore: 1,
                    prepend: [{ role: 'user', content: 'In short: begin.' }],
                  }
                : {},
            shouldStopAfterTurn: ({ turn }) => turn === 2,
          },
        },
      },
    },
    script: [
      reply.toolCalls([bash('blocked'), bash('echo mine')]),
      reply.toolCalls([bash('echo again')]),
    ],
    play: runOnce('Begin.'),
  },
  {
    name: 'session',
    script: [
      reply.text('One.'),
      reply.status(401, { error: { message: 'no' } }),
      reply.text('Two.'),
    ],
    async play({ client }) {
      const session = await client.start({ lifetime: 'session', steeringMode: 'all' });
      const isIdle = async () => (await session.state()).status === 'idle';
      await session.steer('Queued while idle.');
      await session.submit('prompt', 'First.', { id: 'p1' });
      await session.submit('prompt', 'Too early?');
      await until(isIdle);
      await session.submit('prompt', 'Fails.');
      await until(isIdle);
      await session.submit('continue', undefined);
      await until(isIdle);
      await session.submit('continue', undefined);
      await session.followUp('Never delivered.');
      await session.close();
      await session.result();
      return session.workflowId;
    },
  },
  {
    name: 'retries-and-truncation',
    script: [
      reply.status(503, { error: { message: 'busy' } }, { 'retry-after-ms': '10' }),
      reply.cut(),
      reply.toolCalls([bash('echo half')], { finishReason: 'length' }),
      reply.toolCalls([bash('echo whole')]),
      reply.text('There.'),
    ],
    play: runOnce('Try.'),
  },
  {
    name: 'limits-and-large-arguments',
    config: {
      agents: { default: { tools: ['note', 'finish'] } },
      tools: [
        defineTool({
          name: 'note',
          description: 'Keeps a note.',
          parameters: {
            type: 'object',
            properties: { text: { type: 'string' } },
            required: ['text'],
          },
          effects: 'idempotent',
          execute: () => 'Kept.',
        }),
        defineTool({
          name: 'finish',
          description: 'Ends.',
          parameters: { type: 'object' },
          effects: 'read-only',
          execute: () => ({ content: 'Over.', terminate: true }),
        }),
      ],
    },
    script: [
      reply.toolCalls([{ name: 'note', arguments: { text: 'x'.repeat(5_000) } }]),
      reply.toolCalls([{ name: 'finish', arguments: {} }]),
      reply.toolCalls([{ name: 'note', arguments: { text: 'again' } }]),
    ],
    async play({ client }) {
      const run = await client.start({ prompt: 'Note it.', limits: { maxTurns: 3 } });
      await run.followUp('And on.');
      await run.result();
      return run.workflowId;
    },
  },
  {
    name: 'wait-for-a-workspace',
    script: [reply.toolCalls([bash('echo one'), bash('echo two')]), reply.text('Done.')],
    async play(world) {
      const { client, workspace } = world;
      const run = await client.start({ prompt: 'Go.', workspace: 'left' });
      await until(async () => (await run.state()).status === 'waiting_for_workspace');
      await world.addWorker({ workspaces: { left: { root: workspace } } });
      await run.result();
      return run.workflowId;
    },
  },
  {
    name: 'cancel-after-runs',
    script: [reply.text('One.'), reply.text('Two.'), reply.raw([chunk.text('Thr'), step.hang])],
    async play({ client, model }) {
      const session = await client.start({ prompt: 'First.', lifetime: 'session' });
      const idleAfter = (runs: number) =>
        until(async () => {
          const state = await session.state();
          return state.runs === runs && state.status === 'idle';
        });
      await idleAfter(1);
      await session.prompt('Second.');
      await idleAfter(2);
      await session.prompt('Third.');
      await model.request(2);
      await session.cancel();
      await session.result().catch(() => undefined);
      return session.workflowId;
    },
  },
];
