import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  AgentClient,
  AgentRunError,
  InvalidAgentInput,
  MessageTooLarge,
  SessionEnded,
  SessionNotFound,
  WorkerUnreachable,
  WorkflowIdInUse,
} from '../../src/client/index.js';
import type { Message } from '../../src/protocol/messages.js';
import { eventually } from './support/eventually.js';
import { startScriptedWorker } from './support/scripted-worker.js';
import type { Script } from './support/scripted-worker.js';

const address = inject('serverAddress');
const bundlePath = inject('bundlePath');
const newId = () => `client-${randomUUID()}`;

let client: AgentClient;

beforeAll(async () => {
  client = await AgentClient.connect({ address, taskQueue: newId() });
});
afterAll(() => client.close());

/** Runs `action` against a worker of its own with this script. */
async function withWorker<T>(
  script: Script,
  action: (taskQueue: string) => Promise<T>,
): Promise<T> {
  const taskQueue = newId();
  await using _ = await startScriptedWorker({ address, bundlePath, taskQueue, script });
  return await action(taskQueue);
}

const says = (text: string): Script => ({ turns: [[{ chunks: [text] }]] });

describe('AgentClient', () => {
  test('starts a run from a string and gives its result', async () => {
    await withWorker(says('Hello'), async (taskQueue) => {
      const run = await client.start('Say hello', { taskQueue });
      expect(await run.result()).toMatchObject({
        stopReason: 'stop',
        response: { role: 'assistant', content: 'Hello' },
        turns: 1,
      });
    });
  });

  test('shows the prompt, cut, in lists and in the Web UI', async () => {
    const prompt = `Say ${'é'.repeat(300)}`;
    const run = await client.start({ prompt });
    const description = await client.temporal.workflow.getHandle(run.workflowId).describe();
    const summary = (await description.staticSummary()) ?? '';
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(200);
    expect(prompt.startsWith(summary.slice(0, -1))).toBe(true);
    await eventually(async () => {
      const found = [];
      for await (const session of client.list()) found.push(session);
      expect(found).toContainEqual(
        expect.objectContaining({
          workflowId: run.workflowId,
          status: 'running',
          lifetime: 'run',
          summary,
        }),
      );
    });
    await run.cancel();
  });

  test('an agent started by other means is listed with its static summary', async () => {
    const workflowId = newId();
    await client.temporal.workflow.start('agent', {
      workflowId,
      taskQueue: client.taskQueue,
      args: ['Hi'],
      staticSummary: 'from elsewhere',
    });
    await eventually(async () => {
      const found = [];
      for await (const session of client.list({ open: true })) found.push(session);
      expect(found).toContainEqual(
        expect.objectContaining({ workflowId, summary: 'from elsewhere' }),
      );
    });
    await client.temporal.workflow.getHandle(workflowId).terminate();
  });

  test("workflows of one's own are listed by their type", async () => {
    const workflowId = newId();
    const type = "writer's notes";
    const { taskQueue } = client;
    await client.temporal.workflow.start(type, { workflowId, taskQueue, args: ['Hi'] });
    await eventually(async () => {
      const found = [];
      for await (const session of client.list({ type })) found.push(session.workflowId);
      expect(found).toEqual([workflowId]);
    });
    await client.temporal.workflow.getHandle(workflowId).terminate();
  });

  test('an id that an open session has is refused by name', async () => {
    const workflowId = newId();
    const run = await client.start('Hi', { workflowId });
    await expect(client.start('Hi', { workflowId })).rejects.toThrow(WorkflowIdInUse);
    await expect(client.start('Hi', { workflowId })).rejects.toThrow(workflowId);
    await run.cancel();
  });

  test('too much input is refused before anything is sent', async () => {
    const workflowId = newId();
    const start = client.start('x'.repeat(1_900_000), { workflowId });
    await expect(start).rejects.toThrow(MessageTooLarge);
    await expect(client.get(workflowId).steer('Hi')).rejects.toThrow(SessionNotFound);
  });

  test('an unknown session is told apart from one that has ended', async () => {
    await expect(client.get(newId()).steer('Hi')).rejects.toThrow(SessionNotFound);
    await expect(client.get(newId()).state()).rejects.toThrow(SessionNotFound);
    await expect(client.get(newId()).result()).rejects.toThrow(SessionNotFound);
    await withWorker(says('Done'), async (taskQueue) => {
      const run = await client.start('Hi', { taskQueue });
      await run.result();
      await expect(run.steer('Hi')).rejects.toThrow(SessionEnded);
      await expect(run.submit('steer', 'Hi')).rejects.toThrow(SessionEnded);
      await expect(run.cancel()).rejects.toThrow(SessionEnded);
    });
  });

  test('a run that ends in a model error throws it as one', async () => {
    const script: Script = { turns: [[{ fails: { message: 'no such model', retry: false } }]] };
    await withWorker(script, async (taskQueue) => {
      const run = await client.start('Hi', { taskQueue });
      const error = await run.result().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AgentRunError);
      expect(error).toMatchObject({
        kind: 'model',
        type: 'ModelError',
        message: expect.stringContaining('no such model') as string,
      });
    });
  });

  test('input that is none is refused before anything is sent, and names the field', async () => {
    const workflowId = newId();
    const start = client.start({ prompt: 'Hi', lifetime: 'forever' as never }, { workflowId });
    await expect(start).rejects.toThrow(InvalidAgentInput);
    await expect(start).rejects.toThrow(/^lifetime: expected run or session/);
    await expect(client.get(workflowId).state()).rejects.toThrow(SessionNotFound);
  });

  test('input that only the workflow refuses names the field', async () => {
    await withWorker(says('never'), async (taskQueue) => {
      const { workflowId } = await client.temporal.workflow.start('agent', {
        taskQueue,
        workflowId: newId(),
        args: [{ prompt: 'Hi', lifetime: 'forever' }],
      });
      await expect(client.get(workflowId).result()).rejects.toMatchObject({
        kind: 'input',
        message: expect.stringContaining('lifetime') as string,
      });
    });
  });

  test('cancelled and terminated runs say so', async () => {
    const canceled = await client.start('Hi');
    await client.temporal.workflow.getHandle(canceled.workflowId).terminate('no longer needed');
    await expect(canceled.result()).rejects.toMatchObject({
      kind: 'terminated',
      message: expect.stringContaining('no longer needed') as string,
    });
    const script: Script = { turns: [[{ chunks: ['Wait'], holdMs: 60_000 }]] };
    await withWorker(script, async (taskQueue) => {
      const run = await client.start('Hi', { taskQueue });
      await eventually(async () => expect((await run.state()).status).toBe('running'));
      await run.cancel();
      await expect(run.result()).rejects.toMatchObject({ kind: 'canceled' });
    });
  });

  test('without a worker queries say so and signals are kept', async () => {
    const taskQueue = newId();
    const run = await client.start({ lifetime: 'session' }, { taskQueue });
    await run.followUp('Later');
    const asked = run.state();
    await expect(asked).rejects.toThrow(WorkerUnreachable);
    await expect(asked).rejects.toThrow(
      `on task queue '${taskQueue}'. Start one with \`holdfast worker --task-queue ${taskQueue}\``,
    );
    // The server said that nobody polls: the deadline was not waited for.
    await expect(asked).rejects.toMatchObject({ cause: 'nobody polls its task queue' });
    await using _ = await startScriptedWorker({
      address,
      bundlePath,
      taskQueue,
      script: says('a'),
    });
    expect((await run.state()).queues.followUp).toMatchObject([{ preview: 'Later' }]);
    await run.close();
    expect(await run.result()).toMatchObject({ runs: 0, undelivered: [{ preview: 'Later' }] });
  });

  test('a session takes prompts, answers what became of them and counts an id once', async () => {
    await withWorker(says('Yes'), async (taskQueue) => {
      const run = await client.start({ lifetime: 'session' }, { taskQueue });
      expect(await run.submit('prompt', 'One', { id: 'one' })).toEqual({ outcome: 'started' });
      await eventually(async () => expect((await run.state()).status).toBe('idle'));
      expect(await run.submit('steer', 'Two', { id: 'two' })).toEqual({ outcome: 'queued' });
      await run.steer('Two', { id: 'two' });
      expect(await run.submit('followUp', 'x', { id: 'one' })).toMatchObject({
        outcome: 'duplicate',
      });
      const state = await run.state();
      expect(state.queues.steering).toHaveLength(1);
      expect((await run.response())?.content).toBe('Yes');
      await run.close();
      expect(await run.result()).toMatchObject({ runs: 1 });
    });
  });

  test('the transcript is read whole, messages larger than a page included', async () => {
    await withWorker(says('Short'), async (taskQueue) => {
      const long = '语'.repeat(200_000);
      const run = await client.start({ prompt: ['First', long] }, { taskQueue });
      await run.result();
      const messages: Message[] = [];
      for await (const message of run.messages()) messages.push(message);
      expect(messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant']);
      expect(messages[1]).toMatchObject({ content: [{ type: 'text', text: long }] });
      const tail: Message[] = [];
      for await (const message of run.messages({ from: 1, to: 2 })) tail.push(message);
      expect(tail).toEqual(messages.slice(1, 2));
    });
  });
});
