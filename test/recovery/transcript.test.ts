// A session moves between workers, whatever each of them has in its cache: every model request carries the
// transcript of the branch it belongs to, whole and in order.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { textOf } from '../../src/protocol/messages.js';
import type { Message } from '../../src/protocol/messages.js';
import { reply } from '../../src/testing/scripted-model.js';
import type { ScriptedRequestBody } from '../../src/testing/scripted-model.js';
import { messagesOf, violationsOf } from '../support/agent-world.js';
import { createKillWorld } from '../support/worker-process-world.js';
import type { KillWorld } from '../support/worker-process-world.js';

let world: KillWorld;
beforeEach(async () => {
  world = await createKillWorld();
});
afterEach(async () => {
  world.reset();
  await world[Symbol.asyncDispose]();
});

/** A transcript of `count` messages, 10 KB each, told apart by a word. */
const conversation = (word: string, count: number) =>
  Array.from({ length: count }, (_, index) =>
    index % 2 === 0
      ? { role: 'user' as const, content: `${word} question ${index} `.padEnd(10_000, 'q') }
      : {
          role: 'assistant' as const,
          content: [
            { type: 'text' as const, text: `${word} answer ${index} `.padEnd(10_000, 'a') },
          ],
          provider: 'scripted',
          model: 'scripted',
          usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 2 },
          stopReason: 'stop' as const,
        },
  );

const digestOf = (texts: readonly (readonly [string, string])[]) =>
  createHash('sha256').update(JSON.stringify(texts)).digest('hex');

const wireRoles = { user: 'user', assistant: 'assistant', toolResult: 'tool' } as const;

/** Of what a transcript says. */
const transcriptDigest = (messages: readonly Message[]) =>
  digestOf(
    messages.map((message) => {
      if (!(message.role in wireRoles) || !('content' in message)) throw new Error(message.role);
      return [wireRoles[message.role as keyof typeof wireRoles], textOf(message.content)];
    }),
  );

/** Of what a request says, its system prompt aside. */
const requestDigest = ({ messages }: ScriptedRequestBody) =>
  digestOf(
    messages
      .filter(({ role }) => role !== 'system')
      .map(({ role, content }) => [role, textOf((content ?? '') as Parameters<typeof textOf>[0])]),
  );

/** Every request, from number `first` on, carried the transcript as it was then. */
async function expectWholeTranscripts(
  run: Parameters<typeof messagesOf>[0],
  first = 0,
): Promise<void> {
  const messages = await messagesOf(run);
  for (const { body, index } of world.model.requests.slice(first)) {
    const sent = body.messages.filter(({ role }) => role !== 'system');
    expect(`${index} ${requestDigest(body)}`).toBe(
      `${index} ${transcriptDigest(messages.slice(0, sent.length))}`,
    );
  }
}

async function writeFiles(count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    await writeFile(join(world.workspace, `file-${index}.txt`), `${index} line\n`.repeat(2_000));
  }
}

const readFileCall = (index: number) => ({
  name: 'read',
  arguments: { path: `file-${index}.txt` },
});

describe('a transcript of 300 KB', () => {
  test('reaches the model whole, when the worker that holds it is killed, twice', async () => {
    const turns = 8;
    await writeFiles(turns);
    for (let index = 0; index < turns; index++) {
      world.model.add(
        ...(index === 2 || index === 5 ? [reply.hang()] : []),
        reply.toolCalls([readFileCall(index)]),
      );
    }
    world.model.add(reply.text('Done.'));
    let alive = [await world.startWorker(), await world.startWorker()];
    const hung = [world.model.request(2), world.model.request(6)];
    const run = await world.client.start({ messages: conversation('long', 20), prompt: 'Go' });
    const times: number[] = [];
    for (const request of hung) {
      const { ended } = await request;
      const again = world.nextRequest();
      const other = await world.startWorker();
      let killedAt = 0;
      // One of those alive has the call, and the session in its cache: kill until it is dead.
      for (const victim of alive) {
        killedAt = await victim.kill();
        alive = alive.filter((worker) => worker !== victim);
        const left = ended.then(() => true);
        if (await Promise.race([left, sleep(500, false)])) break;
      }
      alive.push(other);
      times.push(Math.round((await again).at - killedAt));
    }
    expect((await run.result()).response?.content).toBe('Done.');
    const sizes = world.model.requests.map(({ body }) => JSON.stringify(body.messages).length);
    expect(sizes.at(-1)).toBeGreaterThan(300_000);
    await expectWholeTranscripts(run);
    expect(await violationsOf(world, run, { carried: 20 })).toEqual([]);
    console.log(
      `kill of the worker with the cache → next model request: ${times.join(' and ')} ms`,
    );
  });

  test('reaches the model whole from workers that can keep nothing of it', async () => {
    const turns = 5;
    await writeFiles(turns);
    for (let index = 0; index < turns; index++) {
      world.model.add(reply.toolCalls([readFileCall(index), readFileCall(index)]));
    }
    world.model.add(reply.text('Done.'));
    await world.startWorker({ cacheBytes: 1 });
    await world.startWorker({ cacheBytes: 20_000 });
    const run = await world.client.start({ messages: conversation('long', 20), prompt: 'Go' });
    await run.result();
    await expectWholeTranscripts(run);
    expect(await violationsOf(world, run, { carried: 20 })).toEqual([]);
  });
});

describe('another branch', () => {
  test('the same workflow id, started again with another conversation of the same length, sees nothing of the first', async () => {
    world.model.add(
      reply.toolCalls([{ name: 'bash', arguments: { command: 'echo north' } }]),
      reply.text('One.'),
      reply.toolCalls([{ name: 'bash', arguments: { command: 'echo south' } }]),
      reply.text('Two.'),
    );
    await world.startWorker();
    const workflowId = `branches-${crypto.randomUUID()}`;
    for (const [index, word] of ['north', 'south'].entries()) {
      const run = await world.client.start(
        { messages: conversation(word, 6), prompt: 'Go' },
        { workflowId },
      );
      await run.result();
      await expectWholeTranscripts(run, 2 * index);
      const others = index === 0 ? 'south' : 'north';
      const sent = JSON.stringify(world.model.requests.slice(2 * index).map(({ body }) => body));
      expect(sent).not.toContain(others);
      expect(await violationsOf(world, run, { carried: 6 })).toEqual([]);
    }
  });

  test.each(['the same worker', 'another worker'])(
    'after a reset to before its second prompt, on %s, a session sees nothing of what came then',
    async (which) => {
      world.model.add(
        reply.text('First answer.'),
        reply.toolCalls([{ name: 'bash', arguments: { command: 'echo undone' } }]),
        reply.text('Undone answer.'),
        reply.toolCalls([{ name: 'bash', arguments: { command: 'echo third' } }]),
        reply.text('Third answer.'),
      );
      await world.startWorker();
      const { workflowId } = await world.client.start({ prompt: 'First', lifetime: 'session' });
      const session = world.client.get(workflowId);
      const untilAnswer = (text: string) =>
        vi.waitFor(async () => {
          expect((await session.state()).status).toBe('idle');
          expect((await session.response())?.content).toBe(text);
        }, 30_000);
      await untilAnswer('First answer.');
      await session.prompt('Undone');
      await untilAnswer('Undone answer.');

      await reset(workflowId, await taskBeforeSignal(workflowId, 'prompt'));
      if (which === 'another worker') await world.takeOver();
      await untilAnswer('First answer.');
      await session.prompt('Third');
      await untilAnswer('Third answer.');
      await expectWholeTranscripts(session, 3);
      expect(JSON.stringify(await messagesOf(session))).not.toMatch(/undone/i);
      const sent = JSON.stringify(world.model.requests.slice(3).map(({ body }) => body));
      expect(sent).not.toMatch(/undone/i);
      expect(
        await violationsOf(world, session, {
          inputs: [{ message: 'First' }, { message: 'Third' }],
        }),
      ).toEqual([]);
    },
  );
});

/** The last completed Workflow Task before the first signal of that name. */
async function taskBeforeSignal(workflowId: string, name: string): Promise<number> {
  const { events } = await world.client.temporal.workflow.getHandle(workflowId).fetchHistory();
  const signalled = (events ?? []).findIndex(
    (event) => event.workflowExecutionSignaledEventAttributes?.signalName === name,
  );
  const task = (events ?? [])
    .slice(0, signalled)
    .findLast((event) => event.workflowTaskCompletedEventAttributes != null);
  return Number(task?.eventId);
}

/** As people do it, dropping the signals that came after. */
async function reset(workflowId: string, eventId: number): Promise<void> {
  await promisify(execFile)(inject('temporalPath'), [
    'workflow',
    'reset',
    '--workflow-id',
    workflowId,
    '--event-id',
    String(eventId),
    '--reason',
    'Undo',
    '--reapply-exclude',
    'All',
    '--address',
    inject('serverAddress'),
  ]);
}
