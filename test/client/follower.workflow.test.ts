// The follower against a real server, real workers and the real workflow.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { AgentClient, isLoggedEvent } from '../../src/client/index.js';
import type { AgentResult, AgentRun, FollowedEvent } from '../../src/client/index.js';
import type { FollowOptions } from '../../src/client/index.js';
import { eventually } from './support/eventually.js';
import { startWorkerProcess } from './support/processes.js';
import { startScriptedWorker } from './support/scripted-worker.js';
import type { Script } from './support/scripted-worker.js';

const address = inject('serverAddress');
const bundlePath = inject('bundlePath');
const newId = () => `follow-${randomUUID()}`;

let client: AgentClient;

beforeAll(async () => {
  client = await AgentClient.connect({ address });
});
afterAll(() => client.close());

/** Collects what a follower is told, from now on. */
function collect(run: AgentRun<AgentResult>, options?: FollowOptions) {
  const events: FollowedEvent[] = [];
  const done = (async () => {
    for await (const event of run.events(options)) events.push(event);
    return events;
  })();
  return { events, done };
}

/** What a terminal shows of the assistant's texts; one that starts over is wiped. */
function screenOf(events: readonly FollowedEvent[]): string[] {
  const texts: string[] = [];
  let open = '';
  for (const event of events) {
    if (event.type === 'message_update') open = (event.startsOver ? '' : open) + event.text;
    if (event.type === 'message_end' && event.unshown !== undefined) {
      texts.push((event.startsOver ? '' : open) + event.unshown);
      open = '';
    }
  }
  return texts;
}

function sequenceOf(events: readonly FollowedEvent[]): number[] {
  return events.flatMap((event) => (isLoggedEvent(event) ? [event.seq] : []));
}

function oneTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

async function withWorker<T>(script: Script, action: (taskQueue: string) => Promise<T>) {
  const taskQueue = newId();
  await using _ = await startScriptedWorker({ address, bundlePath, taskQueue, script });
  return await action(taskQueue);
}

const words = ['The ', 'quick ', 'brown ', 'fox ', 'jumps ', 'over ', 'the ', 'lazy ', 'dog.'];

describe('the follower', () => {
  test('shows text as it streams, and the final text once', async () => {
    const script: Script = { turns: [[{ chunks: words, everyMs: 200 }]] };
    await withWorker(script, async (taskQueue) => {
      const events = await collect(await client.start('Go', { taskQueue })).done;
      const updates = events.filter(({ type }) => type === 'message_update');
      expect(updates.length).toBeGreaterThanOrEqual(3);
      expect(screenOf(events)).toEqual([words.join('')]);
      expect(events.at(-1)).toEqual({ type: 'ended', status: 'completed', complete: true });
      const sequence = sequenceOf(events);
      expect(sequence).toEqual(oneTo(sequence.length));
    });
  });

  test('a message update comes before the end of its message and after the start of its turn', async () => {
    const script: Script = {
      turns: [
        [{ chunks: words, everyMs: 150, calls: [{ name: 'bash', args: { command: 'ls' } }] }],
        [{ chunks: ['Done ', 'now'], everyMs: 400 }],
      ],
      tool: { chunks: ['a\n', 'b\n', 'c\n'], everyMs: 300 },
    };
    await withWorker(script, async (taskQueue) => {
      const events = await collect(await client.start('Go', { taskQueue })).done;
      expect(screenOf(events)).toEqual([words.join(''), 'Done now']);
      const types = events.map(({ type }) => type);
      expect(types.indexOf('message_update')).toBeGreaterThan(types.indexOf('turn_start'));
      const tool = events.flatMap((event, index) =>
        event.type.startsWith('tool_execution') ? [[event.type, index] as const] : [],
      );
      expect(tool[0]?.[0]).toBe('tool_execution_start');
      expect(tool.at(-1)?.[0]).toBe('tool_execution_end');
      const output = events.map((event) =>
        event.type === 'tool_execution_update' ? event.partialResult : '',
      );
      expect('a\nb\nc\n'.startsWith(output.join(''))).toBe(true);
      expect(output.join('')).not.toBe('');
    });
  });

  test('tells a retry with its reason and starts over with the new attempt', async () => {
    const script: Script = {
      turns: [
        [
          {
            chunks: ['A false start'],
            holdMs: 700,
            fails: { message: '503 overloaded', retry: true },
          },
          { chunks: ['The ', 'right ', 'answer'], everyMs: 300 },
        ],
      ],
    };
    await withWorker(script, async (taskQueue) => {
      const events = await collect(await client.start('Go', { taskQueue })).done;
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'retry', attempt: 2, reason: '503 overloaded' }),
      );
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'message_update', attempt: 1, text: 'A false start' }),
      );
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'message_update', attempt: 2, startsOver: true }),
      );
      expect(screenOf(events)).toEqual(['The right answer']);
    });
  });

  test('goes on by itself when its killed worker is replaced, and nothing is told twice', async () => {
    const taskQueue = newId();
    const script: Script = {
      turns: [
        [{ chunks: ['One'], calls: [{ name: 'bash', args: { command: 'ls' } }] }],
        [
          { chunks: ['Half an ans'], holdMs: 120_000 },
          { chunks: ['The ', 'whole ', 'answer'], everyMs: 300 },
        ],
        [{ chunks: ['Yes'] }],
      ],
      tool: { chunks: ['ok'] },
    };
    const options = { address, bundlePath, taskQueue, script };
    const worker = await startWorkerProcess(options);
    const run = await client.start('Go', { taskQueue });
    const { events, done } = collect(run);
    await eventually(() =>
      expect(events).toContainEqual(expect.objectContaining({ text: 'Half an ans', attempt: 1 })),
    );
    worker.child.kill('SIGKILL');
    await worker.exit;
    // History grows while nobody can answer for it.
    await run.steer('Are you there?');
    await eventually(() =>
      expect(events).toContainEqual(expect.objectContaining({ type: 'unreachable' })),
    );
    expect(events.some(({ type }) => type === 'ended')).toBe(false);
    await using _ = await startScriptedWorker(options);
    await done;
    const types = events.map(({ type }) => type);
    expect(types.indexOf('reachable')).toBeGreaterThan(types.indexOf('unreachable'));
    expect(events).toContainEqual(expect.objectContaining({ type: 'unreachable', what: 'worker' }));
    expect(screenOf(events)).toEqual(['One', 'The whole answer', 'Yes']);
    const sequence = sequenceOf(events);
    expect(sequence).toEqual(oneTo(sequence.length));
    expect(events.at(-1)).toMatchObject({ type: 'ended', status: 'completed' });
  });

  test('a worker lost in the middle of a model call is told, though history stays as it is', async () => {
    const taskQueue = newId();
    const script: Script = {
      turns: [[{ chunks: ['Half'], holdMs: 120_000 }, { chunks: ['Whole'] }]],
    };
    const options = { address, bundlePath, taskQueue, script };
    const worker = await startWorkerProcess(options);
    const { events, done } = collect(await client.start('Go', { taskQueue }));
    const isTold = (event: object) =>
      eventually(() => expect(events).toContainEqual(expect.objectContaining(event)));
    await isTold({ text: 'Half' });
    worker.child.kill('SIGKILL');
    await isTold({ type: 'retry', attempt: 2 });
    await isTold({ type: 'unreachable', what: 'worker' });
    await using _ = await startScriptedWorker(options);
    await done;
    expect(screenOf(events)).toEqual(['Whole']);
    expect(events.at(-1)).toMatchObject({ type: 'ended', status: 'completed' });
  });

  test('input that was refused ends at once: there are no events', async () => {
    await withWorker({ turns: [] }, async (taskQueue) => {
      const { workflowId } = await client.temporal.workflow.start('agent', {
        taskQueue,
        workflowId: newId(),
        args: [{ prompt: 'Go', nonsense: 1 }],
      });
      const events = await collect(client.get(workflowId)).done;
      expect(events).toEqual([{ type: 'ended', status: 'failed', complete: true }]);
    });
  });

  test('tells a terminated run from one that is silent', async () => {
    const script: Script = { turns: [[{ chunks: ['Thinking'], holdMs: 60_000 }]] };
    await withWorker(script, async (taskQueue) => {
      const run = await client.start('Go', { taskQueue });
      const { events, done } = collect(run);
      await eventually(() => expect(events.map(({ type }) => type)).toContain('message_update'));
      await client.temporal.workflow.getHandle(run.workflowId).terminate();
      await done;
      expect(events.at(-1)).toEqual({ type: 'ended', status: 'terminated', complete: true });
    });
  });

  test('a closed run whose workers are gone ends, saying that its last events are missing', async () => {
    const run = await client.start('Go', { taskQueue: newId() });
    await client.temporal.workflow.getHandle(run.workflowId).terminate();
    const events = await collect(run).done;
    expect(events.map(({ type }) => type)).toEqual(['unreachable', 'ended']);
    expect(events.at(-1)).toEqual({ type: 'ended', status: 'terminated', complete: false });
  });

  test('a cancelled run is told to its end', async () => {
    const script: Script = { turns: [[{ chunks: ['Half'], holdMs: 60_000 }]] };
    await withWorker(script, async (taskQueue) => {
      const run = await client.start('Go', { taskQueue });
      const { events, done } = collect(run);
      await eventually(() => expect(events.map(({ type }) => type)).toContain('message_update'));
      await run.cancel();
      await done;
      expect(screenOf(events)).toEqual(['Half']);
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'agent_end', stopReason: 'aborted' }),
      );
      expect(events.at(-1)).toEqual({ type: 'ended', status: 'canceled', complete: true });
    });
  });

  test('an answer too large for an event is put in whole', async () => {
    const text = '语言'.repeat(60_000);
    await withWorker({ turns: [[{ chunks: [text] }]] }, async (taskQueue) => {
      const events = await collect(await client.start('Go', { taskQueue })).done;
      expect(screenOf(events)).toEqual([text]);
    });
  });

  test('a session is followed over its runs until it closes', async () => {
    await withWorker({ turns: [[{ chunks: ['Yes'] }]] }, async (taskQueue) => {
      const run = await client.start({ lifetime: 'session' }, { taskQueue });
      const { events, done } = collect(run);
      for (const runs of [1, 2]) {
        await run.prompt(`Prompt ${runs}`);
        await eventually(() =>
          expect(events.filter(({ type }) => type === 'agent_end')).toHaveLength(runs),
        );
      }
      await run.close();
      await done;
      expect(screenOf(events)).toEqual(['Yes', 'Yes']);
      expect(events.slice(-2).map(({ type }) => type)).toEqual(['closed', 'ended']);
    });
  });

  test('starts after the event it is given, and stays silent about live views if asked', async () => {
    const script: Script = { turns: [[{ chunks: words, everyMs: 100 }]] };
    await withWorker(script, async (taskQueue) => {
      const run = await client.start('Go', { taskQueue });
      const events = await collect(run, { after: 3, live: false }).done;
      expect(sequenceOf(events)[0]).toBe(4);
      expect(events.map(({ type }) => type)).not.toContain('message_update');
    });
  });

  test('stops when its signal says so', async () => {
    const run = await client.start('Go', { taskQueue: newId() });
    const stop = new AbortController();
    const { events, done } = collect(run, { signal: stop.signal });
    await eventually(() => expect(events.length).toBeGreaterThan(0));
    stop.abort();
    await done;
    expect(events.map(({ type }) => type)).not.toContain('ended');
    await client.temporal.workflow.getHandle(run.workflowId).terminate();
  });

  test('an id started again is another session: the first is followed to its end', async () => {
    await withWorker({ turns: [[{ chunks: ['First'], holdMs: 800 }]] }, async (taskQueue) => {
      const workflowId = newId();
      const first = await client.start('Go', { workflowId, taskQueue });
      const { events, done } = collect(first);
      await eventually(() => expect(events.length).toBeGreaterThan(0));
      await client.temporal.workflow.getHandle(workflowId).terminate();
      const second = await client.start('Again', { workflowId, taskQueue });
      await done;
      expect(events.at(-1)).toMatchObject({ type: 'ended', status: 'terminated' });
      await second.result();
    });
  });
});
