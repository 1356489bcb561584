// The bundle of someone's own workflows beside the workflow `agent`, kept by content like that of our own.
//
// Which files go into it is known only once it is built, so what is kept beside it is a record of them: a
// worker that finds them all unchanged starts without webpack.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  build,
  contentKey,
  defaultCacheDirectories,
  firstWritable,
  removeUnused,
  touch,
  writeWhole,
} from './bundle.js';
import type { WebpackHook } from './bundle.js';

export interface BundleOwnWorkflowsOptions {
  /** Where bundles are kept, in this order of preference. */
  readonly cacheDirectories?: readonly string[];
}

interface BundleRecord {
  /** Digests of all files that went into it. */
  readonly files: { readonly [path: string]: string };
  /** Name of the bundle beside the record. */
  readonly bundle: string;
}

const workflows = fileURLToPath(new URL('../workflows', import.meta.url));
const contract = fileURLToPath(new URL('../protocol', import.meta.url));

/**
 * Returns the path of a bundle of `agent` and of all that the file exports. A workflow of the file that is
 * named `agent` takes the place of ours.
 *
 * The file may import `holdfast/workflow` and Temporal's packages wherever it lies: they are those that the
 * worker itself uses.
 *
 * @throws Error that says, in webpack's words, which line of which file cannot be bundled
 */
export async function bundleOwnWorkflows(
  file: string,
  options: BundleOwnWorkflowsOptions = {},
): Promise<string> {
  const directory = await firstWritable(options.cacheDirectories ?? defaultCacheDirectories());
  const entry = entryOf(file);
  const key = digestOf(`${await contentKey([workflows, contract])}\n${entry}`);
  const recordPath = join(directory, `workflows-${key}.json`);
  const known = await unchangedBundle(recordPath, directory);
  if (known !== undefined) return known;

  const entryPath = join(directory, `workflows-${key}.mjs`);
  await writeWhole(entryPath, entry);
  const files = new Set<string>();
  const begunAt = Date.now();
  const code = await build(entryPath, (config) => resolvingOurs(recording(files, config)));
  const path = join(directory, `workflows-${digestOf(code)}.js`);
  await writeWhole(path, code);
  if (!(await wereChangedSince(begunAt, files))) {
    const record: BundleRecord = { files: await digestsOf(files), bundle: basename(path) };
    await writeWhole(recordPath, JSON.stringify(record));
  }
  await removeUnused(directory);
  return path;
}

/** Exports by name come before those of `export *`. */
function entryOf(file: string): string {
  const path = JSON.stringify(file);
  return `import { agent as stock } from 'holdfast/workflow';
import * as own from ${path};
export * from ${path};
export const agent = Reflect.get(own, 'agent') ?? stock;
export default Reflect.get(own, 'default');
`;
}

function resolvingOurs(config: Parameters<WebpackHook>[0]): Parameters<WebpackHook>[0] {
  const require = createRequire(import.meta.url);
  const folderOf = (name: string) => dirname(require.resolve(`${name}/package.json`));
  return {
    ...config,
    resolve: {
      ...config.resolve,
      alias: {
        // The SDK's own, a list of names: it comes first, as the first that matches is taken.
        ...(config.resolve?.alias as { readonly [name: string]: string | false }),
        'holdfast/workflow$': library(),
        '@temporalio/workflow': folderOf('@temporalio/workflow'),
        '@temporalio/common': folderOf('@temporalio/common'),
      },
    },
  };
}

/** In a checkout the sources are TypeScript. */
function library(): string {
  const file = join(workflows, 'library.js');
  return existsSync(file) ? file : file.replace(/js$/, 'ts');
}

/** Adds the files that webpack reads. */
function recording(
  files: Set<string>,
  config: Parameters<WebpackHook>[0],
): Parameters<WebpackHook>[0] {
  return {
    ...config,
    plugins: [
      ...(config.plugins ?? []),
      (compiler) => {
        compiler.hooks.done.tap('holdfast', ({ compilation }) => {
          for (const file of compilation.fileDependencies) files.add(file);
        });
      },
    ],
  };
}

async function unchangedBundle(recordPath: string, directory: string): Promise<string | undefined> {
  let record: BundleRecord;
  try {
    record = JSON.parse(await readFile(recordPath, 'utf8')) as BundleRecord;
  } catch {
    return undefined;
  }
  const now = await digestsOf(Object.keys(record.files));
  const isUnchanged = Object.entries(record.files).every(([file, digest]) => now[file] === digest);
  const path = join(directory, record.bundle);
  return isUnchanged && (await touch(path)) && (await touch(recordPath)) ? path : undefined;
}

/** A file that was edited while the bundle was built may have gone into it as it was before. */
async function wereChangedSince(time: number, paths: Iterable<string>): Promise<boolean> {
  for (const path of paths) {
    const changedAt = await stat(path).then(
      (found) => (found.isFile() ? found.mtimeMs : 0),
      () => 0,
    );
    if (changedAt >= time) return true;
  }
  return false;
}

/** Of those that are files: webpack's entry is none, and some names are folders. */
async function digestsOf(paths: Iterable<string>): Promise<{ [path: string]: string }> {
  const digests: { [path: string]: string } = {};
  for (const path of paths) {
    const isFile = await stat(path).then(
      (found) => found.isFile(),
      () => false,
    );
    if (isFile) digests[path] = digestOf(await readFile(path));
  }
  return digests;
}

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}
