import { chmod, mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bundleWorkflows } from '../../src/worker/bundle.js';

let folder: string;
let workflowsPath: string;
let cache: string;

beforeEach(async () => {
  // Below the package, as the bundle contains Temporal's workflow library.
  const scratch = fileURLToPath(new URL('../../.holdfast', import.meta.url));
  await mkdir(scratch, { recursive: true });
  folder = await mkdtemp(join(scratch, 'bundle-'));
  workflowsPath = join(folder, 'workflows');
  cache = join(folder, 'cache');
  await mkdir(workflowsPath);
  await mkdir(join(folder, 'protocol'));
  await writeFile(
    join(workflowsPath, 'index.ts'),
    `import { greeting } from '../protocol/greeting.js';\n` +
      `export async function greet(name: string): Promise<string> { return greeting + name; }\n`,
  );
  await writeFile(
    join(folder, 'protocol', 'greeting.ts'),
    `export const greeting: string = 'good morning ';\n`,
  );
});

afterEach(() => rm(folder, { recursive: true }));

const bundle = (cacheDirectories: readonly string[] = [cache]) =>
  bundleWorkflows({
    workflowsPath,
    importedPaths: [join(folder, 'protocol')],
    cacheDirectories,
  });

describe('bundleWorkflows', () => {
  test('writes the TypeScript workflows and what they import as one file of JavaScript', async () => {
    const path = await bundle();
    expect(path).toMatch(/\.js$/);
    const code = await readFile(path, 'utf8');
    expect(code).toContain('good morning ');
    expect(code).toContain('greet');
  });

  test('takes the same sources from the cache without building them', async () => {
    const path = await bundle();
    await writeFile(path, 'as it was kept');
    expect(await bundle()).toBe(path);
    expect(await readFile(path, 'utf8')).toBe('as it was kept');
  });

  test('builds anew when a workflow or an imported file changes', async () => {
    const first = await bundle();
    await writeFile(
      join(folder, 'protocol', 'greeting.ts'),
      `export const greeting: string = 'good evening ';\n`,
    );
    const second = await bundle();
    expect(second).not.toBe(first);
    expect(await readFile(second, 'utf8')).toContain('good evening ');
  });

  test('builds that run at the same time all get the whole file, and leave nothing else behind', async () => {
    const paths = await Promise.all([bundle(), bundle()]);
    expect(new Set(paths).size).toBe(1);
    expect(await readFile(paths[0] as string, 'utf8')).toContain('good morning ');
    expect(await readdir(cache)).toHaveLength(1);
  });

  test('falls back to the next folder where the first cannot be written', async () => {
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    await chmod(file, 0o400);
    expect(await bundle([join(file, 'cache'), cache])).toContain(cache);
    await expect(bundle([join(file, 'cache')])).rejects.toThrow(
      /No folder for the workflow bundle can be written \(tried .*a-file/,
    );
  });

  test('says what webpack complains of when the code does not bundle', async () => {
    await writeFile(join(workflowsPath, 'index.ts'), `export * from './absent.js';`);
    await expect(bundle()).rejects.toThrow(/could not be bundled\.[^]*absent\.js/);
  });

  test('removes bundles that nobody used for a week', async () => {
    await mkdir(cache);
    const long = new Date(Date.now() - 8 * 24 * 3_600_000);
    await writeFile(join(cache, 'workflows-old.js'), '');
    await writeFile(join(cache, 'workflows-new.js'), '');
    await utimes(join(cache, 'workflows-old.js'), long, long);
    await bundle();
    const left = await readdir(cache);
    expect(left).toContain('workflows-new.js');
    expect(left).not.toContain('workflows-old.js');
  });
});
