// `holdfast dev` and `holdfast worker` as real processes, with a scripted model behind a real socket.

import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { AgentClient } from '../../src/client/index.js';
import { isAlive } from '../../src/dev-server/server-process.js';
import { readState } from '../../src/dev-server/state-file.js';
import { chunk, reply, startScriptedModel, step } from '../../src/testing/scripted-model.js';
import type { ScriptedModel, Script } from '../../src/testing/scripted-model.js';
import { eventually } from '../client/support/eventually.js';
import { startProcess } from '../client/support/processes.js';
import type { RunningProcess } from '../client/support/processes.js';

let directory: string;
let model: ScriptedModel | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-cli-'));
});
afterEach(async () => {
  // The server outlives a killed `dev`, on purpose.
  const { pid } = readState(join(directory, 'data')) ?? {};
  if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
  await model?.close({ expectFaults: true });
  model = undefined;
  await rm(directory, { recursive: true, force: true });
});

async function scripted(script: Script): Promise<ScriptedModel> {
  model = await startScriptedModel(script);
  return model;
}

function holdfast(args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningProcess {
  return startProcess(
    'src/cli/main.ts',
    args,
    {
      OPENAI_API_KEY: 'test',
      OPENAI_BASE_URL: model?.baseURL,
      TEMPORAL_ADDRESS: undefined,
      TEMPORAL_CONFIG_FILE: join(directory, 'none.toml'),
      TEMPORAL_CLI_PATH: inject('temporalPath'),
      npm_lifecycle_event: '',
      ...env,
    },
    directory,
  );
}

async function said(running: RunningProcess, text: RegExp): Promise<string> {
  return eventually(() => {
    const written = running.stdout() + running.stderr();
    const match = text.exec(written);
    if (match === null) throw new Error(`waiting for ${text} in: ${written}`);
    return match[1] ?? match[0];
  });
}

async function startDev(): Promise<{ dev: RunningProcess; address: string; data: string }> {
  const data = join(directory, 'data');
  const dev = holdfast(['dev', '--data-dir', data]);
  await said(dev, /Ctrl-C/);
  return { dev, address: await said(dev, /Temporal server started: (\S+)/), data };
}

async function answers(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect(Number(port), host);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

describe('holdfast dev', () => {
  test('starts a server and a worker, says where they are and what to try; Ctrl-C ends both', async () => {
    await scripted([reply.text('Hello from the script', { chunkSize: 5, delayMs: 50 })]);
    const { dev, address } = await startDev();
    expect(dev.stderr()).toMatch(/Web UI: http:\/\/127\.0\.0\.1:\d+/);
    expect(dev.stderr()).toMatch(/Config: /);
    const temporal = inject('temporalPath');
    expect(dev.stderr()).toContain(`Temporal CLI: ${temporal}\n`);
    // A path where `temporal` alone would not be found.
    expect(dev.stderr()).toMatch(/^ {2}\S*temporal workflow start --address /m);
    expect(dev.stderr()).toContain(`holdfast run --address ${address} "List the files here"`);
    const run = holdfast(['run', 'Say hello', '--address', address]);
    expect(await run.exit).toBe(0);
    expect(run.stdout()).toBe('> Say hello\nHello from the script\n');
    dev.child.kill('SIGINT');
    expect(await dev.exit).toBe(0);
    expect(await answers(address)).toBe(false);
  });

  test('says so when another worker serves its task queue', async () => {
    const { dev, data } = await startDev();
    const another = holdfast(['dev', '--data-dir', data]);
    const others = await said(another, /serve the task queue holdfast as well \((.*?)\)/);
    expect(others).toContain(`${dev.child.pid}@`);
    expect(dev.stderr()).not.toContain('as well');
    expect(dev.stderr()).toContain(`(process ${dev.child.pid})`);
    for (const { child, exit } of [another, dev]) {
      child.kill('SIGINT');
      expect(await exit).toBe(0);
    }
  });

  test('a killed server is started again, and a followed run goes on to its end', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const answer = [chunk.text('Half '), step.until(held), chunk.text('and half')];
    await scripted(() => reply.raw([...answer, chunk.finish('stop'), chunk.done]));
    const { dev, address, data } = await startDev();
    const run = holdfast(['run', 'Go', '--address', address]);
    await said(run, /Half/);
    const { pid } = readState(data) ?? {};
    if (pid === undefined) throw new Error('the server has no process id');
    process.kill(pid, 'SIGKILL');
    await said(dev, /The Temporal server is gone; starting it again[^]*server started/);
    release();
    expect(await run.exit).toBe(0);
    expect(run.stdout().endsWith('Half and half\n')).toBe(true);
    dev.child.kill('SIGINT');
    expect(await dev.exit).toBe(0);
  });

  test('with a configured server it starts none', async () => {
    const address = inject('serverAddress');
    const dev = holdfast(['dev', '--task-queue', randomUUID()], { TEMPORAL_ADDRESS: address });
    await said(dev, new RegExp(`none is started[^]*Worker on ${address}[^]*Config`));
    dev.child.kill('SIGTERM');
    expect(await dev.exit).toBe(0);
  });
});

describe('holdfast worker', () => {
  const address = inject('serverAddress');

  async function startRun(): Promise<{ worker: RunningProcess; workflowId: string }> {
    const taskQueue = randomUUID();
    const worker = holdfast(['worker', '--task-queue', taskQueue], { TEMPORAL_ADDRESS: address });
    await said(worker, /Config: none found/);
    await using client = await AgentClient.connect({ address, taskQueue });
    const { workflowId } = await client.start('Go');
    await model?.request(0);
    return { worker, workflowId };
  }

  test('told to stop, it lets a model call finish and leaves with 0', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await scripted([
      reply.raw([chunk.text('Done'), step.until(held), chunk.finish('stop'), chunk.done]),
    ]);
    const { worker, workflowId } = await startRun();
    worker.child.kill('SIGTERM');
    await said(worker, /Stopping/);
    release();
    expect(await worker.exit).toBe(0);
    await using client = await AgentClient.connect({ address });
    const handle = client.temporal.workflow.getHandle(workflowId);
    const { events } = await handle.fetchHistory();
    const completed = events?.filter((event) => event.activityTaskCompletedEventAttributes != null);
    // resolveAgent and the model call.
    expect(completed).toHaveLength(2);
    await handle.terminate();
  });

  test('a second signal leaves at once', async () => {
    await scripted([reply.hang()]);
    const { worker, workflowId } = await startRun();
    worker.child.kill('SIGTERM');
    await said(worker, /Stopping/);
    expect(worker.child.exitCode).toBeNull();
    worker.child.kill('SIGTERM');
    expect(await worker.exit).toBe(143);
    await using client = await AgentClient.connect({ address });
    await client.temporal.workflow.getHandle(workflowId).terminate();
  });

  test('lives through a promise that a tool left behind rejected, and says so', async () => {
    await scripted([reply.toolCalls([{ name: 'careless' }]), reply.text('Done')]);
    const taskQueue = randomUUID();
    const careless = `{ name: 'careless', description: 'Leaves a promise behind',
      parameters: { type: 'object' },
      execute: () => { Promise.reject(new Error('left behind')); return 'fine'; } }`;
    await writeFile(
      join(directory, 'holdfast.config.mjs'),
      `export default { taskQueue: '${taskQueue}', tools: [${careless}] };`,
    );
    const worker = holdfast(['worker'], { TEMPORAL_ADDRESS: address });
    await said(worker, /Config: /);
    await using client = await AgentClient.connect({ address, taskQueue });
    const run = await client.start('Go');
    expect((await run.result()).response?.content).toBe('Done');
    await said(worker, /rejected and nobody looked: left behind/);
    worker.child.kill('SIGTERM');
    expect(await worker.exit).toBe(0);
  });

  test('serves the task queue of its config, unless told another', async () => {
    await writeFile(join(directory, 'holdfast.config.json'), '{ "taskQueue": "from-the-config" }');
    const worker = holdfast(['worker'], { TEMPORAL_ADDRESS: address });
    await said(worker, /task queue from-the-config\./);
    worker.child.kill('SIGTERM');
    expect(await worker.exit).toBe(0);
  });

  test('says which queues it serves; a run waits, and says so, until a worker of its workspace is there', async () => {
    await scripted([
      reply.toolCalls([{ name: 'bash', arguments: { command: 'echo x > made' } }]),
      reply.text('Done'),
    ]);
    const taskQueue = randomUUID();
    const left = `${taskQueue}/workspace/left`;
    await mkdir(join(directory, 'files'));
    const config = { taskQueue, workspaces: { left: { root: 'files' } } };
    await writeFile(join(directory, 'left.json'), JSON.stringify(config));
    const server = { TEMPORAL_ADDRESS: address };
    const main = holdfast(['worker', '--task-queue', taskQueue], server);
    await said(main, new RegExp(`task queue ${taskQueue}\\.\n`));
    const start = [
      'run',
      'Go',
      '--id',
      taskQueue,
      '--workspace',
      'left',
      '--task-queue',
      taskQueue,
    ];
    const run = holdfast(start, server);
    await said(run, /Waiting for a worker of the workspace left, at most 10 min/);
    const state = holdfast(['state', taskQueue], server);
    expect(await state.exit).toBe(0);
    expect(state.stdout()).toMatch(/status +waiting_for_workspace/);
    expect(state.stdout()).toMatch(/waiting for +a worker of the workspace left/);

    // Without the model's key, which it has no use for.
    const worker = holdfast(['worker', '--config', 'left.json'], { ...server, OPENAI_API_KEY: '' });
    await said(worker, new RegExp(`task queue ${left}\\.\n[^]*only runs the tools of left`));
    expect(await run.exit).toBe(0);
    expect(run.stdout()).toMatch(/A worker of the workspace is there\.\n✓ bash.*\nDone\n$/);
    expect(await readdir(join(directory, 'files'))).toEqual(['made']);
    expect(worker.stderr()).not.toContain('OPENAI_API_KEY');
    for (const { child } of [main, worker]) child.kill('SIGTERM');
    expect(await Promise.all([main.exit, worker.exit])).toEqual([0, 0]);
  });

  test('a temporal.toml without a profile is said so in one sentence', async () => {
    const file = join(directory, 'temporal.toml');
    await writeFile(file, '');
    const worker = holdfast(['worker'], { TEMPORAL_CONFIG_FILE: file });
    expect(await worker.exit).toBe(1);
    expect(worker.stderr()).toMatch(/temporal\.toml has no profile; add \[profile\.default\]/);
  });

  test('a namespace that is not registered is said so, and ends it', async () => {
    const worker = holdfast(['worker', '--namespace', 'missing'], { TEMPORAL_ADDRESS: address });
    expect(await worker.exit).toBe(1);
    expect(worker.stderr()).toMatch(/has no namespace 'missing'; register it with `temporal /);
  });

  test.each([
    [['--config', 'missing.config.ts'], /missing\.config\.ts/],
    [['--address', '127.0.0.1:1'], /No Temporal server answers at 127\.0\.0\.1:1/],
  ])('%j leaves with 1 and one sentence', async (args, sentence) => {
    const worker = holdfast(['worker', ...args]);
    expect(await worker.exit).toBe(1);
    expect(worker.stderr()).toMatch(sentence);
    expect(worker.stderr().trimEnd().split('\n')).toHaveLength(1);
  });
});
