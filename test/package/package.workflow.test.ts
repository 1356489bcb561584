// The package as users get it: packed, installed by npm into an empty folder, and used from there.

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, cp, readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { refusingStorage } from '../../src/worker/refused-references.js';
import { eventually } from '../client/support/eventually.js';
import { keptNames, readKept } from '../replay/kept.js';
import { installPackage } from './installed-package.js';
import type { InstalledPackage } from './installed-package.js';

/** A user's own zod, whose types are not assignable to those of the zod the package brings. */
const otherZod = 'zod@4.4.3';

const typescript = createRequire(import.meta.url).resolve('typescript/package.json');
const compiler = join(typescript, '..', 'bin', 'tsc');
const address = inject('serverAddress');

let installed: InstalledPackage;
let modelURL: string;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR', () => {}) });
  installed = await installPackage(otherZod);
  const model = installed.start('node', ['model.mjs']);
  modelURL = await eventually(() => {
    const [url = ''] = /^http:\S+$/m.exec(model.stdout()) ?? [];
    if (url === '') throw new Error(`The model has not started: ${model.stderr()}`);
    return url;
  });
}, 240_000);
afterAll(() => installed?.[Symbol.asyncDispose]());

const environment = () => ({
  MODEL_URL: modelURL,
  OPENAI_API_KEY: 'test',
  TEMPORAL_ADDRESS: address,
});

describe('the package', () => {
  test('holds what is built, the documents and the examples, and no tests', () => {
    const { files, size, unpackedSize } = installed.packed;
    const paths = files.map(({ path }) => path);
    expect(paths.filter((path) => !/^(dist|docs|examples)\//.test(path)).toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'package.json',
    ]);
    const built = paths.filter((path) => path.startsWith('dist/'));
    expect(built.filter((path) => /test\.|\/demo\/|(?<!\.d)\.ts$/.test(path))).toEqual([]);
    expect(built.filter((path) => path.startsWith('dist/bundle/'))).toHaveLength(1);
    expect(files.find(({ path }) => path === 'dist/cli/main.js')?.mode).toBe(0o755);
    expect(size).toBeLessThan(2_000_000);
    expect(unpackedSize).toBeLessThan(8_000_000);
  });

  test('brings the command holdfast', async () => {
    expect(await installed.run('npx', ['holdfast', '--help'])).toContain('Usage: holdfast');
    expect(await installed.run('npx', ['holdfast', '--version'])).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test.each([
    ['nodenext', { module: 'nodenext' }],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler' }],
  ])(
    'has types for a strict program, none of them wrong, resolved as %s',
    async (name, options) => {
      const config = {
        compilerOptions: {
          ...options,
          target: 'es2022',
          lib: ['es2023', 'esnext.disposable'],
          types: ['node'],
          strict: true,
          exactOptionalPropertyTypes: true,
          noEmit: true,
          skipLibCheck: false,
        },
        files: ['user.ts', 'holdfast.config.ts', 'workflows.ts'],
      };
      await writeFile(join(installed.directory, `tsconfig.${name}.json`), JSON.stringify(config));
      const { stdout } = await installed.start('node', [compiler, '-p', `tsconfig.${name}.json`])
        .finished;
      const problems = stdout.split('\n').filter((line) => /^\S.*error TS/.test(line));
      // Temporal's own declarations have errors of their own.
      const ofTemporal = /^node_modules\/@temporalio\//;
      expect(problems.filter((line) => !ofTemporal.test(line))).toEqual([]);
    },
  );

  test('a worker with a config and a tool of its own runs an agent, without building workflows', async () => {
    const taskQueue = randomUUID();
    const queue = ['--task-queue', taskQueue];
    const worker = installed.start('npx', ['holdfast', 'worker', ...queue], environment());
    await eventually(() => expect(worker.stderr()).toMatch(/Config: .*holdfast\.config\.ts/));
    const prompt = 'Look for the tide';
    const said = await installed.run('npx', ['holdfast', 'run', prompt, ...queue], environment());
    expect(said).toContain('Found: 3 notes have tide.');
    worker.signal('SIGTERM', 'itself');
    await worker.finished;
    // npm has died of it; the worker is told all the same.
    await eventually(() => expect(worker.stderr()).toContain('Stopping'));
    expect(existsSync(join(installed.home, '.cache', 'holdfast'))).toBe(false);
  });

  test('a program makes worker, client and workflows from it, with a config that no packages are installed for', async () => {
    const file = join(installed.home, 'holdfast.config.ts');
    await cp(join(installed.directory, 'holdfast.config.ts'), file);
    await cp(join(installed.directory, 'workflows.ts'), join(installed.home, 'workflows.ts'));
    const doors =
      "import 'holdfast/testing'; import 'holdfast/worker'; import 'holdfast/workflow';";
    await appendFile(file, doors);
    const args = ['library.mjs', address, randomUUID(), file];
    const WORKFLOWS = 'workflows.ts';
    expect(await installed.run('node', args, { ...environment(), WORKFLOWS })).toBe(
      'Found: 3 notes have tide.\nFOUND: 3 NOTES HAVE TIDE.\n',
    );
  });

  test('the bundle of its workflows replays what earlier releases recorded', async () => {
    const folder = join(installed.directory, 'node_modules', 'holdfast', 'dist', 'bundle');
    const [name = ''] = await readdir(folder);
    const workflowBundle = { codePath: join(folder, name) };
    const dataConverter = { externalStorage: refusingStorage };
    for (const kept of await keptNames()) {
      const { history } = await readKept(kept);
      const replay = Worker.runReplayHistory({ workflowBundle, dataConverter }, history);
      await expect(replay).resolves.toBeUndefined();
    }
  });
});
