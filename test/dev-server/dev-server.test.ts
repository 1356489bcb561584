import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  ensureTemporalCli,
  localServerAddress,
  startDevServer,
} from '../../src/dev-server/index.js';
import type { DevServer, StartDevServerOptions } from '../../src/dev-server/index.js';

// Servers start and stop here; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

interface Started {
  readonly address: string;
  readonly uiAddress: string;
  readonly pid: number;
  readonly adopted: boolean;
}

let dataDirectory: string;
let temporalPath: string;
let cleanUp: (() => unknown)[];

beforeAll(async () => {
  temporalPath = await ensureTemporalCli({ log: (line) => console.log(line) });
});

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'holdfast-dev-'));
  cleanUp = [];
});

afterEach(async () => {
  for (const action of cleanUp.toReversed()) await action();
  await killServer();
  await rm(dataDirectory, { recursive: true, force: true });
});

describe('startDevServer', () => {
  test('starts a server with its Web UI on the loopback interface, and stops it', async () => {
    const server = await start();
    expect(server.adopted).toBe(false);
    expect(server.address).toMatch(/^127\.0\.0\.1:\d+$/);
    await assertHasNamespace(server.address);
    const page = await fetch(server.uiAddress);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<html');
    expect(await localServerAddress(dataDirectory)).toBe(server.address);

    await server.stop();
    await expectNoServer(server);
    expect(await localServerAddress(dataDirectory)).toBeUndefined();
  });

  test('a server orphaned by kill -9 of its starter runs on and is adopted by the next start', async () => {
    const first = await startInProcess();
    first.process.kill('SIGKILL');
    await once(first.process, 'exit');
    await startWorkflow(first.started.address, 'kept');

    const adopted = await start();
    expect(adopted).toMatchObject({ ...first.started, adopted: true });
    expect(await workflowIds(adopted.address)).toEqual(['kept']);
    await adopted.stop();
    await expectNoServer(adopted);
  });

  test('a server killed with kill -9 starts again on the same ports with the same data', async () => {
    const first = await start();
    await startWorkflow(first.address, 'survivor');
    process.kill(first.pid, 'SIGKILL');
    await first.gone;
    expect(await localServerAddress(dataDirectory)).toBeUndefined();

    const second = await start();
    expect(second).toMatchObject({
      adopted: false,
      address: first.address,
      uiAddress: first.uiAddress,
    });
    expect(second.pid).not.toBe(first.pid);
    await vi.waitFor(async () => {
      expect(await workflowIds(second.address)).toEqual(['survivor']);
    }, 20_000);
  });

  test('two starts at the same time make one server, which ends when the last of them lets go', async () => {
    const [first, second] = await Promise.all([startInProcess(), startInProcess()]);
    expect(second.started.pid).toBe(first.started.pid);
    expect(second.started.adopted).toBe(!first.started.adopted);

    first.process.kill('SIGTERM');
    await once(first.process, 'exit');
    await assertHasNamespace(first.started.address);

    second.process.kill('SIGTERM');
    await once(second.process, 'exit');
    await expectNoServer(first.started);
  });

  test('a starter that was killed while it started the server leaves no lock behind', async () => {
    await writeFile(join(dataDirectory, 'lock'), '4194304 a process that is gone');
    const server = await start();
    expect(server.adopted).toBe(false);
    await assertHasNamespace(server.address);
  });

  test('takes other ports when those it would like are taken', async () => {
    const first = await start();
    await first.stop();
    const blocker = await occupy(portOf(first.address));
    const second = await start();
    expect(portOf(second.address)).not.toBe(portOf(first.address));
    await assertHasNamespace(second.address);
    blocker.close();
  });

  test('a port that was asked for and is taken is a clear error', async () => {
    const blocker = await occupy(0);
    const { port } = blocker.address() as AddressInfo;
    await expect(start({ port })).rejects.toThrow(
      `Port ${port} is in use by another program; choose another --port, or leave it out to get one that is free.`,
    );
    await expect(start({ uiPort: port })).rejects.toThrow(
      `Port ${port} is in use by another program; choose another --ui-port,`,
    );
  });

  test('asking for other ports than those of the running server is a clear error', async () => {
    const server = await start();
    await expect(start({ port: 1 })).rejects.toThrow(
      `runs already on port ${portOf(server.address)} with its Web UI on ${portOf(server.uiAddress)} (process ${server.pid}); stop it first, or leave the ports out`,
    );
  });

  test('a server that cannot start is an error with its own words and the place of its log', async () => {
    await writeFile(join(dataDirectory, 'temporal.sqlite'), 'this is no database'.repeat(500));
    await expect(start()).rejects.toThrow(
      /did not start: .*(not a database|malformed)[^]*server\.log/,
    );
    expect(await localServerAddress(dataDirectory)).toBeUndefined();
  });

  test('a server that hangs is ended and started again', async () => {
    const first = await start();
    process.kill(first.pid, 'SIGSTOP');
    const lines: string[] = [];
    const second = await start({ log: (line) => lines.push(line) });
    expect(lines.join('\n')).toContain(`(process ${first.pid}) does not answer; starting it again`);
    expect(second.adopted).toBe(false);
    await assertHasNamespace(second.address);
  });

  test('TEMPORAL_CLI_PATH pointing at nonsense is an error that names it', async () => {
    const nonsense = join(dataDirectory, 'nonsense');
    await expect(start({ environment: { TEMPORAL_CLI_PATH: nonsense } })).rejects.toThrow(
      `TEMPORAL_CLI_PATH is ${nonsense}, which is not a Temporal CLI that can be run: there is no such program; correct or unset it.`,
    );
    await writeFile(nonsense, '#!/bin/sh\necho hello\n');
    await expect(start({ environment: { TEMPORAL_CLI_PATH: nonsense } })).rejects.toThrow(
      'it is not executable',
    );
    await chmod(nonsense, 0o755);
    await expect(start({ environment: { TEMPORAL_CLI_PATH: nonsense } })).rejects.toThrow(
      'it does not answer --version as the Temporal CLI does',
    );
  });
});

async function start(options: StartDevServerOptions = {}): Promise<DevServer> {
  const environment = { ...process.env, TEMPORAL_CLI_PATH: temporalPath };
  const server = await startDevServer({ dataDirectory, environment, ...options });
  cleanUp.push(() => server.stop());
  return server;
}

async function startInProcess(): Promise<{ process: ChildProcess; started: Started }> {
  const script = fileURLToPath(new URL('dev-server-process.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, dataDirectory], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TEMPORAL_CLI_PATH: temporalPath },
  });
  cleanUp.push(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { process: child, started: JSON.parse(line) as Started };
}

/** Whatever a failed test left running on this test's database. */
async function killServer(): Promise<void> {
  const state = await readFile(join(dataDirectory, 'server.json'), 'utf8').catch(() => '{}');
  const { pid } = JSON.parse(state) as { pid?: number };
  if (pid === undefined || (await localServerAddress(dataDirectory)) === undefined) return;
  process.kill(pid, 'SIGKILL');
}

async function expectNoServer({ address, pid }: Started): Promise<void> {
  await expect(Connection.connect({ address, connectTimeout: 500 })).rejects.toThrow('connect');
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 5_000);
}

async function withClient<T>(address: string, action: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await action(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

async function assertHasNamespace(address: string): Promise<void> {
  await withClient(address, async ({ workflowService }) => {
    const { namespaceInfo } = await workflowService.describeNamespace({ namespace: 'default' });
    expect(namespaceInfo?.name).toBe('default');
  });
}

async function startWorkflow(address: string, workflowId: string): Promise<void> {
  await withClient(address, (client) =>
    client.workflow.start('nobody-runs-this', { workflowId, taskQueue: 'none' }),
  );
  await vi.waitFor(async () => expect(await workflowIds(address)).toContain(workflowId), 10_000);
}

async function workflowIds(address: string): Promise<readonly string[]> {
  return withClient(address, async (client) => {
    const ids: string[] = [];
    for await (const { workflowId } of client.workflow.list()) ids.push(workflowId);
    return ids;
  });
}

async function occupy(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  cleanUp.push(() => server.close());
  return server;
}

function portOf(address: string): number {
  return Number(address.split(':').at(-1));
}
