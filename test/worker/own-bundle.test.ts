// The bundle of someone's own workflows: what is in it, when it is built, and what is said when it cannot be.

import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleOwnWorkflows } from '../../src/worker/own-bundle.js';

let folder: string;
let file: string;

/** A project without any node_modules. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-own-'));
  file = join(folder, 'project', 'workflows.ts');
  await mkdir(join(folder, 'project'));
  await mkdir(join(folder, 'shared'));
  await write('shared/greeting.ts', `export const greeting: string = 'good morning ';\n`);
  await write(
    'project/workflows.ts',
    `import { sleep } from '@temporalio/workflow';
import { createAgent } from 'holdfast/workflow';
import type { AgentOptions } from 'holdfast/workflow';
import { greeting } from '../shared/greeting.js';
export async function greet(options: AgentOptions): Promise<string> {
  await sleep(1);
  return greeting + createAgent(options).name;
}
`,
  );
});

afterAll(() => rm(folder, { recursive: true }));

const write = (path: string, text: string) => writeFile(join(folder, path), text);

const bundle = (path = file) =>
  bundleOwnWorkflows(path, { cacheDirectories: [join(folder, 'cache')] });

/** What a worker would register. */
async function exportsOf(path: string): Promise<{ readonly [name: string]: unknown }> {
  const context = createContext({ __webpack_module_cache__: {}, TextEncoder });
  runInContext(await readFile(path, 'utf8'), context);
  return runInContext('__TEMPORAL__.importWorkflows()', context) as { [name: string]: unknown };
}

describe('bundleOwnWorkflows', () => {
  test('has the workflows of the file beside agent, wherever the file lies; the same files are not built twice', async () => {
    const path = await bundle();
    const workflows = await exportsOf(path);
    expect(workflows).toMatchObject({
      greet: expect.any(Function) as unknown,
      agent: expect.any(Function) as unknown,
    });
    await writeFile(path, 'as it was kept');
    expect(await bundle()).toBe(path);
    expect(await readFile(path, 'utf8')).toBe('as it was kept');

    // Any file counts that went in; a workflow of theirs named agent takes the place of ours.
    await write(
      'shared/greeting.ts',
      `export const greeting = 'good evening ';\nexport async function agent() { return 'theirs'; }\n`,
    );
    const source = await readFile(file, 'utf8');
    await writeFile(file, `${source}export { agent } from '../shared/greeting.js';\n`);
    const again = await bundle();
    expect(again).not.toBe(path);
    const agent = (await exportsOf(again))['agent'] as () => Promise<string>;
    expect(await agent()).toBe('theirs');
    expect((await readdir(join(folder, 'cache'))).filter((name) => name.endsWith('.tmp'))).toEqual(
      [],
    );
  });

  test('what cannot be bundled is an error that names the file and the line, and nothing else', async () => {
    await write('project/broken.ts', `export const fine = 1;\nexport const = 2;\n`);
    await write(
      'project/broken-workflows.ts',
      `export * from './broken.js';\nexport * from './missing.js';\nimport 'node:fs';\n`,
    );
    const message = await problemOf(bundle(join(folder, 'project', 'broken-workflows.ts')));
    expect(message).toMatch(/^The workflow code could not be bundled\./);
    expect(message).toMatch(/project\/broken\.ts:2:\d+/);
    expect(message).toMatch(/project\/broken-workflows\.ts 2:\d+-\d+/);
    expect(message).toMatch(/Can't resolve '\.\/missing\.js' in '.*project'/);
    expect(message).toMatch(/node:fs[^]*project\/broken-workflows\.ts 3:\d+-\d+/);
    expect(message).toContain('node:fs has no place in a workflow: use it in an activity');
    expect(message).not.toMatch(/modules by path|Stack backtrace|webpack\/lib|plugins|\d+: worker/);
  });

  test('a module that has no place in a workflow is named', async () => {
    await write(
      'project/reading.ts',
      `import { readFile } from 'fs/promises';\nexport async function read() { return await readFile('x'); }\n`,
    );
    expect(await problemOf(bundle(join(folder, 'project', 'reading.ts')))).toMatch(
      /could not be bundled[^]*disallowed modules[^]*fs\/promises/,
    );
  });
});

async function problemOf(bundling: Promise<string>): Promise<string> {
  return await bundling.then(
    (path) => `it was bundled: ${path}`,
    (error: Error) => error.message,
  );
}
