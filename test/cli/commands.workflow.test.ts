// The commands as real processes, against a real server and the real workflow.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { AgentClient } from '../../src/client/index.js';
import { eventually } from '../client/support/eventually.js';
import { startProcess } from '../client/support/processes.js';
import type { RunningProcess } from '../client/support/processes.js';
import { startScriptedWorker } from '../client/support/scripted-worker.js';
import type { Script } from '../client/support/scripted-worker.js';

const address = inject('serverAddress');
const bundlePath = inject('bundlePath');
const newId = () => `cli-${randomUUID()}`;

let client: AgentClient;

beforeAll(async () => {
  client = await AgentClient.connect({ address });
});
afterAll(() => client.close());

function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningProcess {
  return startProcess('src/cli/main.ts', args, {
    TEMPORAL_ADDRESS: address,
    npm_lifecycle_event: '',
    ...env,
  });
}

/** Runs a command to its end. */
async function holdfast(...args: readonly string[]) {
  await using command = start(args);
  const code = await command.exit;
  return { code, stdout: command.stdout(), stderr: command.stderr() };
}

async function withWorker<T>(script: Script, action: (taskQueue: string) => Promise<T>) {
  const taskQueue = newId();
  await using _ = await startScriptedWorker({ address, bundlePath, taskQueue, script });
  return await action(taskQueue);
}

const says = (...chunks: string[]): Script => ({ turns: [[{ chunks }]] });
const waits: Script = { turns: [[{ chunks: ['Let me think'], holdMs: 120_000 }]] };

async function statusOf(workflowId: string): Promise<string> {
  return (await client.temporal.workflow.getHandle(workflowId).describe()).status.name;
}

describe('holdfast run', () => {
  test('prints text as it streams, tool calls as they start and end, and leaves with 0', async () => {
    const script: Script = {
      turns: [
        [{ chunks: ['I look.'], calls: [{ name: 'bash', args: { command: 'ls -a' } }] }],
        [{ chunks: ['There ', 'are ', 'two ', 'files.'], everyMs: 400 }],
      ],
      tool: { chunks: ['a\n', 'b\n'] },
    };
    await withWorker(script, async (taskQueue) => {
      await using command = start(['run', 'Look', '--task-queue', taskQueue]);
      await eventually(() => expect(command.stdout()).toMatch(/There(?! are two files)/));
      expect(await command.exit).toBe(0);
      expect(command.stdout()).toBe(
        '> Look\nI look.\n● bash ls -a\n✓ bash a b\nThere are two files.\n',
      );
      expect(command.stderr()).toMatch(/^[a-z]+-[a-z]+-[a-z0-9]{4} · holdfast steer/);
    });
  });

  test('a failed run leaves with 1 and says why, once', async () => {
    const script: Script = { turns: [[{ fails: { message: 'no such model', retry: false } }]] };
    await withWorker(script, async (taskQueue) => {
      const { code, stdout, stderr } = await holdfast('run', 'Go', '--task-queue', taskQueue);
      expect(code).toBe(1);
      expect((stdout + stderr).match(/no such model/g)).toHaveLength(1);
    });
  });

  test('input the workflow refuses leaves with 1 and names the field', async () => {
    await withWorker(says('never'), async (taskQueue) => {
      const run = ['run', 'Go', '--task-queue', taskQueue, '--max-turns', '5000000000000000000000'];
      const { code, stderr } = await holdfast(...run);
      expect(code).toBe(1);
      expect(stderr).toContain('maxTurns');
    });
  });

  test('Ctrl-C cancels the run, waits for its end and leaves with 130', async () => {
    await withWorker(waits, async (taskQueue) => {
      const id = newId();
      await using command = start(['run', 'Go', '--id', id, '--task-queue', taskQueue]);
      await eventually(() => expect(command.stdout()).toContain('Let me think'));
      command.child.kill('SIGINT');
      expect(await command.exit).toBe(130);
      expect(await statusOf(id)).toBe('CANCELLED');
      expect(command.stdout()).toMatch(/Let me think\nAborted\.\n$/);
    });
  });

  test('a second Ctrl-C leaves with 130 without waiting', async () => {
    const id = newId();
    await using command = start(['run', 'Go', '--id', id, '--task-queue', newId()]);
    await eventually(() => expect(command.stderr()).toContain(id));
    command.child.kill('SIGINT');
    await eventually(() => expect(command.stderr()).toContain('Ctrl-C again'));
    expect(command.child.exitCode).toBeNull();
    command.child.kill('SIGINT');
    expect(await command.exit).toBe(130);
    expect(await statusOf(id)).toBe('RUNNING');
    await client.temporal.workflow.getHandle(id).terminate();
  });

  test('Ctrl-C in a session stops its run and leaves it open', async () => {
    await withWorker(waits, async (taskQueue) => {
      const id = newId();
      const args = ['run', 'Go', '--session', '--id', id, '--task-queue', taskQueue];
      await using command = start(args);
      await eventually(() => expect(command.stdout()).toContain('Let me think'));
      command.child.kill('SIGINT');
      expect(await command.exit).toBe(130);
      expect(command.stderr()).toContain(`holdfast prompt ${id}`);
      expect((await client.get(id).state()).status).toBe('idle');
      await client.get(id).close();
    });
  });

  test('a session leaves with 0 after its run and stays open', async () => {
    await withWorker(says('Yes'), async (taskQueue) => {
      const id = newId();
      const session = ['--session', '--id', id, '--task-queue', taskQueue];
      expect(await holdfast('run', 'Go', ...session)).toMatchObject({
        code: 0,
        stdout: '> Go\nYes\n',
      });
      const prompt = await holdfast('prompt', id, 'And now?', '--follow');
      expect(prompt).toMatchObject({ code: 0, stdout: '> And now?\nYes\n' });
      expect(await holdfast('close', id)).toMatchObject({ code: 0 });
      await expect(client.get(id).result()).resolves.toMatchObject({ runs: 2 });
    });
  });

  test('--detach prints the id and leaves; - reads the prompt from standard input', async () => {
    const id = newId();
    await using command = start(['run', '-', '--detach', '--id', id, '--task-queue', newId()]);
    command.child.stdin.end('From a pipe\n');
    expect(await command.exit).toBe(0);
    expect(command.stdout()).toBe(`${id}\n`);
    const handle = client.temporal.workflow.getHandle(id);
    expect(await (await handle.describe()).staticSummary()).toBe('From a pipe');
    await handle.terminate();
  });

  test('--json prints one event a line, the last one saying how it ended', async () => {
    await withWorker(says('Yes'), async (taskQueue) => {
      const { stdout } = await holdfast('run', 'Go', '--json', '--task-queue', taskQueue);
      const events = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { readonly type: string });
      expect(events[0]).toMatchObject({ type: 'agent_start', seq: 1 });
      expect(events.at(-1)).toEqual({ type: 'ended', status: 'completed', complete: true });
    });
  });

  test('an approval says how it is answered, and approve lets the run go on', async () => {
    const script: Script = {
      turns: [
        [{ chunks: ['May I?'], calls: [{ name: 'bash', args: { command: 'rm x' } }] }],
        [{ chunks: ['Done.'] }],
      ],
      tool: { chunks: ['ok'], approval: 'ask' },
    };
    await withWorker(script, async (taskQueue) => {
      const id = newId();
      await using command = start(['run', 'Go', '--id', id, '--task-queue', taskQueue]);
      const asks = new RegExp(`holdfast approve ${id} --call (\\S+)`);
      await eventually(() => expect(command.stdout()).toMatch(asks));
      const [, call = ''] = asks.exec(command.stdout()) ?? [];
      expect(await holdfast('approve', id, '--call', 'another')).toMatchObject({ code: 1 });
      expect(await holdfast('approve', id, '--call', call)).toMatchObject({
        code: 0,
        stdout: 'Approved.\n',
      });
      expect(await command.exit).toBe(0);
      expect(command.stdout()).toMatch(/approved bash[^]*✓ bash ok\nDone\.\n$/);
    });
  });
});

describe('commands that talk to a session', () => {
  test('say what became of an input, and a rejected one leaves with 1', async () => {
    await withWorker(waits, async (taskQueue) => {
      const { workflowId } = await client.start(
        { lifetime: 'session', prompt: 'Go' },
        { taskQueue },
      );
      expect(await holdfast('steer', workflowId, 'Left')).toMatchObject({ stdout: 'Queued.\n' });
      expect(await holdfast('follow-up', workflowId, 'Then', '--json')).toMatchObject({
        stdout: '{"outcome":"queued"}\n',
      });
      const rejected = await holdfast('prompt', workflowId, 'Now');
      expect(rejected).toMatchObject({ code: 1, stdout: '' });
      expect(rejected.stderr).toMatch(/^holdfast: Rejected: .+\.\n$/);
      expect(await holdfast('abort', workflowId)).toMatchObject({ code: 0, stdout: 'Aborting.\n' });
      const run = client.get(workflowId);
      await eventually(async () => expect((await run.state()).status).toBe('idle'));
      const { queues } = await run.state();
      expect(queues).toMatchObject({ steeringLength: 1, followUpLength: 1 });
      await run.close();
    });
  });

  test('without a worker an input is sent all the same and counts once', async () => {
    const taskQueue = newId();
    const run = await client.start({ lifetime: 'session' }, { taskQueue });
    const sent = await holdfast('steer', run.workflowId, 'Left');
    expect(sent.code).toBe(0);
    expect(sent.stdout).toMatch(/^Sent\. No worker answers/);
    await using _ = await startScriptedWorker({ address, bundlePath, taskQueue, script: waits });
    await eventually(async () => expect((await run.state()).queues.steeringLength).toBe(1));
    await run.close();
    await expect(run.result()).resolves.toMatchObject({ undelivered: [{ preview: 'Left' }] });
  });

  test('abort cancels a run, also one that no worker serves', async () => {
    const { workflowId } = await client.start('Go', { taskQueue: newId() });
    expect(await holdfast('abort', workflowId)).toMatchObject({ code: 0, stdout: 'Aborting.\n' });
    const { events } = await client.temporal.workflow.getHandle(workflowId).fetchHistory();
    expect(
      events?.some((event) => event.workflowExecutionCancelRequestedEventAttributes != null),
    ).toBe(true);
    await client.temporal.workflow.getHandle(workflowId).terminate();
    const again = await holdfast('abort', workflowId);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('has ended');
  });
});

describe('commands that read', () => {
  test('events, messages, state and list show a session', async () => {
    await withWorker(says('All is well.'), async (taskQueue) => {
      const run = await client.start('How are things?', { taskQueue });
      const { workflowId } = run;
      await run.result();
      const text = '> How are things?\nAll is well.\n';
      expect(await holdfast('events', workflowId)).toMatchObject({ code: 0, stdout: text });
      expect(await holdfast('events', workflowId, '--follow')).toMatchObject({ stdout: text });
      const events = await holdfast('events', workflowId, '--json', '--after', '1');
      expect(JSON.parse(events.stdout.split('\n')[0] ?? '')).toMatchObject({ seq: 2 });
      expect((await holdfast('messages', workflowId)).stdout).toBe(
        '0 user\nHow are things?\n\n1 assistant\nAll is well.\n\n',
      );
      const messages = await holdfast('messages', workflowId, '--json', '--from', '1');
      expect(JSON.parse(messages.stdout)).toMatchObject({ role: 'assistant' });
      expect((await holdfast('state', workflowId)).stdout).toMatch(/^status +closed/);
      const state = await holdfast('state', workflowId, '--json');
      expect(JSON.parse(state.stdout)).toMatchObject({ status: 'closed', transcriptLength: 2 });
      await eventually(async () => {
        const list = await holdfast('list', '--json', '--limit', '5000');
        expect(JSON.parse(list.stdout)).toContainEqual(
          expect.objectContaining({ workflowId, status: 'completed', summary: 'How are things?' }),
        );
      });
      const table = await holdfast('list', '--limit', '5000');
      expect(table.stdout).toMatch(/^ID +STATUS +STARTED \(UTC\) +SUMMARY\n/);
      expect(table.stdout).toContain(workflowId);
    });
  });

  test('events --follow waits for the end and shows what streams meanwhile', async () => {
    const script: Script = { turns: [[{ chunks: ['One ', 'two ', 'three'], everyMs: 2_000 }]] };
    await withWorker(script, async (taskQueue) => {
      const { workflowId } = await client.start('Count', { taskQueue });
      const { code, stdout } = await holdfast('events', workflowId, '--follow', '--json');
      expect(code).toBe(0);
      expect(stdout).toContain('"type":"message_update"');
      expect(stdout.trimEnd().split('\n').at(-1)).toContain('"ended"');
    });
  });
});

describe('errors', () => {
  test('no server: one sentence that says what to do, and exit code 1', async () => {
    await using command = start(['list', '--address', '127.0.0.1:1']);
    expect(await command.exit).toBe(1);
    expect(command.stdout()).toBe('');
    expect(command.stderr()).toBe(
      'holdfast: No Temporal server answers at 127.0.0.1:1. Start one with `holdfast dev`, or set TEMPORAL_ADDRESS.\n',
    );
  });

  test.each([
    [['state', 'no-such-session'], /There is no session 'no-such-session'/],
    [['run'], /There is no prompt/],
    [['run', 'x', '--max-turns', 'many'], /whole number/],
    [['steer', 'no-such-session', 'x'], /There is no session/],
    [['events', 'no-such-session', '--follow'], /There is no session/],
    [['abort', 'no-such-session'], /There is no session/],
    [['nonsense'], /unknown command 'nonsense'/],
  ])('%j leaves with 1 and one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await holdfast(...args);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
