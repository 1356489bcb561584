// The worker's health check: the file it touches, and the command by which docker-compose.yml reads it.

import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { eventually } from '../client/support/eventually.js';
import { startProcess } from '../client/support/processes.js';
import type { RunningProcess } from '../client/support/processes.js';
import { serviceOf } from './compose-file.js';
import '../support/provided.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-health-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function startWorker(healthFile: string): RunningProcess {
  return startProcess(
    'src/cli/main.ts',
    ['worker', '--task-queue', randomUUID(), '--health-file', healthFile],
    { TEMPORAL_ADDRESS: inject('serverAddress'), OPENAI_API_KEY: 'test' },
    directory,
  );
}

/** Makes the file as old as one that nobody has touched for a minute. */
async function age(file: string): Promise<void> {
  const then = Date.now() / 1_000 - 60;
  await utimes(file, then, then);
}

/** Runs the check of the compose file on another file than the container's. */
function isHealthy(file: string): boolean {
  const [kind, command = '', ...args] = serviceOf('worker').healthcheck?.test ?? [];
  expect(kind).toBe('CMD');
  const changed = args.map((arg) => arg.replace('/tmp/holdfast-worker', file));
  expect(changed).not.toEqual(args);
  return spawnSync(command, changed).status === 0;
}

describe('holdfast worker --health-file', () => {
  test('keeps the file fresh for as long as it runs, and removes it', async () => {
    const file = join(directory, 'health');
    const worker = startWorker(file);
    await eventually(() => expect(existsSync(file)).toBe(true));
    await age(file);
    await eventually(async () => {
      expect(Date.now() - (await stat(file)).mtimeMs).toBeLessThan(30_000);
    });
    worker.child.kill('SIGTERM');
    expect(await worker.exit).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  test('a file that cannot be written ends it with one sentence', async () => {
    const worker = startWorker(join(directory, 'missing', 'health'));
    expect(await worker.exit).toBe(1);
    expect(worker.stderr()).toMatch(
      /health file cannot be written: .*; choose another --health-file/,
    );
  });
});

describe('the health check of docker-compose.yml', () => {
  test('succeeds with a fresh file, fails with an old one and with none', async () => {
    const file = join(directory, 'health');
    expect(isHealthy(file)).toBe(false);
    await writeFile(file, '');
    expect(isHealthy(file)).toBe(true);
    await age(file);
    expect(isHealthy(file)).toBe(false);
  });

  test('reads the file that the worker is told to touch', () => {
    const { command, healthcheck } = serviceOf('worker');
    const [, file = 'none'] = /--health-file,(\S+)/.exec(String(command)) ?? [];
    expect(healthcheck?.test.join(' ')).toContain(`'${file}'`);
  });
});
