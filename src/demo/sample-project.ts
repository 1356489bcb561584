// The workspace of the demo: a copy of the sample project, and what became of it.

import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const sample = fileURLToPath(new URL('sample', import.meta.url));

export async function copySampleProject(folder: string): Promise<void> {
  await cp(sample, folder, { recursive: true });
}

export interface ProjectState {
  /** Whether `node --test` succeeds, run by the demo itself. */
  readonly testsPass: boolean;
  /** Lines of the changelog that the sample did not have. */
  readonly notes: readonly string[];
  /** The sample's files that are no longer as they were. */
  readonly changed: readonly string[];
}

export async function lookAtProject(folder: string): Promise<ProjectState> {
  const files = ['duration.js', 'duration.test.js', 'CHANGELOG.md'];
  const [before, after] = await Promise.all([contents(sample, files), contents(folder, files)]);
  const changed = files.filter((_, index) => before[index] !== after[index]);
  const oldLines = new Set((before[2] ?? '').split('\n'));
  const notes = (after[2] ?? '').split('\n').filter((line) => !oldLines.has(line));
  return { testsPass: await passesTests(folder), notes, changed };
}

async function contents(folder: string, files: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    files.map((file) => readFile(join(folder, file), 'utf8').catch(() => '(there is no file)')),
  );
}

function passesTests(folder: string): Promise<boolean> {
  // A test runner around the demo must not be taken for the parent of this one.
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
  return new Promise((resolve) => {
    execFile(process.execPath, ['--test'], { cwd: folder, env, timeout: 30_000 }, (error) => {
      resolve(error === null);
    });
  });
}
