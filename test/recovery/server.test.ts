// The Temporal server is killed and started again on its file: runs go on, with workers that were connected
// all the time and with new ones.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { startDevServer } from '../../src/dev-server/index.js';
import { readState } from '../../src/dev-server/state-file.js';
import { AgentClient } from '../../src/client/index.js';
import { toMilliseconds } from '../../src/protocol/duration.js';
import { timeouts } from '../../src/protocol/limits.js';
import { chunk, reply, step, startScriptedModel } from '../../src/testing/scripted-model.js';
import { startProcess } from '../client/support/processes.js';
import { messagesOf, violationsOf } from '../support/agent-world.js';
import { createKillWorld, resultsOf, rolesOf } from '../support/worker-process-world.js';

const inputs = [{ message: 'Go' }];
const bash = (command: string) => ({ name: 'bash', arguments: { command } });

let dataDirectory: string;
beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'holdfast-server-'));
});
afterEach(() => rm(dataDirectory, { recursive: true, force: true, maxRetries: 5 }));

const start = () =>
  startDevServer({
    dataDirectory,
    environment: { ...process.env, TEMPORAL_CLI_PATH: inject('temporalPath') },
  });

describe('a server killed and started again on its file', () => {
  test.each(['the worker stays connected', 'the worker is killed too'])(
    'during a model call, %s: the run goes on to its end',
    async (which) => {
      let server = await start();
      try {
        await using world = await createKillWorld({ address: server.address });
        let release = () => {};
        const held = new Promise<void>((resolve) => (release = resolve));
        const slow = [chunk.text('Slow '), step.until(held), chunk.text('answer')];
        world.model.add(
          reply.toolCalls([bash('echo once >> effects.txt; echo effect')]),
          ...Array.from({ length: 3 }, () =>
            reply.raw([...slow, chunk.finish('stop'), chunk.done]),
          ),
        );
        const second = world.model.request(1);
        await world.startWorker();
        const run = await world.client.start('Go');
        await second;
        process.kill(server.pid, 'SIGKILL');
        await server.gone;
        if (which === 'the worker is killed too') await world.killWorker();
        server = await start();
        if (which === 'the worker is killed too') await world.startWorker();
        release();
        expect((await run.result()).response?.content).toBe('Slow answer');
        expect(await rolesOf(run)).toBe('user assistant toolResult assistant');
        expect(await resultsOf(run)).toEqual([{ text: 'effect', isError: false }]);
        expect(await world.file('effects.txt')).toBe('once\n');
        expect(await violationsOf(world, run, { inputs })).toEqual([]);
      } finally {
        await server.stop();
      }
    },
  );

  test('during a bash call that ends while it is away: the call happened once and has one result', async () => {
    let server = await start();
    try {
      await using world = await createKillWorld({ address: server.address });
      world.model.add(reply.toolCalls([bash('echo once >> effects.txt')]), reply.text('Done.'));
      await world.startWorker();
      world.gates.close('after-bash');
      const run = await world.client.start('Go');
      await world.reached('after-bash');
      process.kill(server.pid, 'SIGKILL');
      await server.gone;
      world.gates.open('after-bash');
      server = await start();
      expect((await run.result()).response?.content).toBe('Done.');
      expect(await world.file('effects.txt')).toBe('once\n');
      expect(world.gates.reached('before-bash')).toHaveLength(1);
      expect(await rolesOf(run)).toBe('user assistant toolResult assistant');
      world.reset();
      expect(await violationsOf(world, run, { inputs })).toEqual([]);
    } finally {
      await server.stop();
    }
  });

  test('away for longer than the heartbeat time-out during a bash call: it is told as unknown, and the worker goes on', async () => {
    let server = await start();
    try {
      await using world = await createKillWorld({ address: server.address });
      world.model.add(
        reply.toolCalls([bash('echo once >> effects.txt')]),
        reply.toolCalls([bash('cat effects.txt')]),
        reply.text('Done.'),
      );
      await world.startWorker();
      world.gates.close('after-bash');
      const run = await world.client.start('Go');
      await world.reached('after-bash');
      process.kill(server.pid, 'SIGKILL');
      await server.gone;
      // The call ends while there is nobody to hear of it.
      world.gates.open('after-bash');
      await sleep(toMilliseconds(timeouts.heartbeat) + 1_000);
      server = await start();
      expect((await run.result()).response?.content).toBe('Done.');
      expect(await world.file('effects.txt')).toBe('once\n');
      expect(await rolesOf(run)).toBe('user assistant toolResult assistant toolResult assistant');
      const [unknown, seen] = await resultsOf(run);
      expect(unknown).toMatchObject({ isError: true });
      expect(unknown?.text).toMatch(/outcome of this call is unknown/);
      expect(seen).toEqual({ text: 'once', isError: false });
      world.reset();
      expect(await violationsOf(world, run, { inputs })).toEqual([]);
    } finally {
      await server.stop();
    }
  });

  test('while a session is idle: what was sent before is kept, and it goes on', async () => {
    let server = await start();
    try {
      await using world = await createKillWorld({ address: server.address });
      world.model.add(reply.text('First.'), reply.text('Second.'));
      await world.startWorker();
      const session = await world.client.start({ prompt: 'Go', lifetime: 'session' });
      await vi.waitFor(async () => expect((await session.state()).status).toBe('idle'), 20_000);
      await session.steer('Kept');
      process.kill(server.pid, 'SIGKILL');
      await server.gone;
      server = await start();
      await session.prompt('Go on');
      await vi.waitFor(
        async () => expect((await session.response())?.content).toBe('Second.'),
        60_000,
      );
      expect(await rolesOf(session)).toBe('user assistant user user assistant');
      const sent = [...inputs, { message: 'Kept' }, { message: 'Go on' }];
      expect(await violationsOf(world, session, { inputs: sent })).toEqual([]);
      world.reset();
    } finally {
      await server.stop();
    }
  });
});

describe('holdfast dev', () => {
  test('killed and started again: the orphaned server is adopted, and the run goes on', async () => {
    const model = await startScriptedModel([reply.hang(), reply.text('Gone on.')]);
    const workspace = await mkdtemp(join(dataDirectory, 'workspace-'));
    await writeFile(
      join(workspace, 'holdfast.config.json'),
      JSON.stringify({ models: { default: { model: 'scripted', baseURL: model.baseURL } } }),
    );
    const data = join(dataDirectory, 'data');
    const startDev = () =>
      startProcess(
        'src/cli/main.ts',
        ['dev', '--data-dir', data],
        {
          TEMPORAL_ADDRESS: undefined,
          TEMPORAL_CONFIG_FILE: join(dataDirectory, 'none.toml'),
          TEMPORAL_CLI_PATH: inject('temporalPath'),
        },
        workspace,
      );
    const said = (dev: ReturnType<typeof startDev>, pattern: RegExp) =>
      vi.waitFor(() => expect(dev.stderr()).toMatch(pattern), { timeout: 60_000, interval: 50 });

    const killed = startDev();
    await said(killed, /Ctrl-C/);
    const state = readState(data);
    await using client = await AgentClient.connect({ address: `127.0.0.1:${state?.port}` });
    const asked = model.request(0);
    const run = await client.start('Go');
    await asked;
    killed.child.kill('SIGKILL');
    await killed.exit;
    const again = model.request(1);
    const killedAt = performance.now();
    const restarted = startDev();
    await said(restarted, /Temporal server runs already/);
    console.log(
      `kill of holdfast dev → next model request of the next one: ${Math.round((await again).at - killedAt)} ms`,
    );
    expect(readState(data)?.pid).toBe(state?.pid);
    expect((await run.result()).response?.content).toBe('Gone on.');
    expect(await messagesOf(run)).toHaveLength(2);
    expect(await violationsOf({ client }, run, { inputs })).toEqual([]);
    restarted.child.kill('SIGINT');
    expect(await restarted.exit).toBe(0);
    await model.close();
  });
});
