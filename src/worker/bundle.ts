// The bundle of the workflow code, built once and kept by content.
//
// Its key is everything that goes into it: the sources of the workflows and of the contract, the versions
// of what they import, and how it is built. A worker that finds the key's file starts without webpack: the
// package brings the bundle of its own workflows, a checkout keeps in a cache what it has built.

import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { BundleOptions, Logger } from '@temporalio/worker';
import envPaths from 'env-paths';

export interface BundleWorkflowsOptions {
  /** Folder with the workflows' `index`. Default: Holdfast's own. */
  readonly workflowsPath?: string;
  /** Further folders whose files go into the bundle. Default: the contract. */
  readonly importedPaths?: readonly string[];
  /** Where bundles are kept, in this order of preference. */
  readonly cacheDirectories?: readonly string[];
}

const packageDirectory = fileURLToPath(new URL('../..', import.meta.url));
/** Whether this is the package of someone's project, and no checkout. */
const isInstalled = packageDirectory.split(sep).includes('node_modules');
const ownWorkflows = fileURLToPath(new URL('../workflows', import.meta.url));
const contract = fileURLToPath(new URL('../protocol', import.meta.url));
const optimization = { providedExports: true, usedExports: true, concatenateModules: true };
/** Where the package has the bundle of its own workflows; a checkout has no such folder. */
export const prebuiltDirectory = fileURLToPath(new URL('../bundle', import.meta.url));
const unusedAfterMs = 7 * 24 * 3_600_000;

/**
 * Returns the path of the bundled workflows, for `workflowBundle: { codePath }`.
 *
 * Any number of processes may ask at the same time: a file appears under its name only when complete.
 */
export async function bundleWorkflows(options: BundleWorkflowsOptions = {}): Promise<string> {
  const workflowsPath = options.workflowsPath ?? ownWorkflows;
  const key = await contentKey([workflowsPath, ...(options.importedPaths ?? [contract])]);
  const name = `workflows-${key}.js`;
  const prebuilt = join(prebuiltDirectory, name);
  if (existsSync(prebuilt)) return prebuilt;
  const directory = await firstWritable(options.cacheDirectories ?? defaultCacheDirectories());
  const path = join(directory, name);
  if (await touch(path)) return path;

  await writeWhole(path, await build(workflowsPath));
  await removeUnused(directory);
  return path;
}

export type WebpackHook = NonNullable<BundleOptions['webpackConfigHook']>;

/** @throws Error with webpack's own words */
export async function build(
  workflowsPath: string,
  hook: WebpackHook = (config) => config,
): Promise<string> {
  let problems = '';
  try {
    const { code } = await bundleWorkflowCode({
      workflowsPath,
      logger: silence,
      // One scope instead of a module each: digests are made many times faster, as their inner loop calls
      // what another module exports.
      webpackConfigHook: (config) =>
        hook({
          ...config,
          optimization: { ...config.optimization, ...optimization },
          output: { ...config.output, devtoolModuleFilenameTemplate: toShownPath },
          plugins: [
            ...(config.plugins ?? []),
            (compiler) => {
              compiler.hooks.done.tap('holdfast', (stats) => {
                problems = stats.toString({ all: false, errors: true, moduleTrace: true });
              });
            },
          ],
        }),
    });
    return code;
  } catch (error) {
    // Modules that have no place in a workflow are named in the exception alone.
    const reason =
      withoutStacks(problems) || (error instanceof Error ? error.message : String(error));
    throw new Error(`The workflow code could not be bundled. ${reason}`, { cause: error });
  }
}

/** Webpack's stack traces, and those of its compiler, hide which line of which file is meant. */
function withoutStacks(problems: string): string {
  return problems
    .replace(/^\s*(at .*|Stack backtrace:|\d+: (?!.*\|).*|at .*:\d+:\d+)\n?/gm, '')
    .replace(
      /UnhandledSchemeError: (Reading from "(node:[^"]+)")[^]*?(?=^ ?@ )/gm,
      '$2 has no place in a workflow: use it in an activity, and only `import type` what you share with it.\n',
    );
}

/** What stack traces call a file: one of the package by its path there, wherever the bundle was built. */
function toShownPath({ absoluteResourcePath: path }: { absoluteResourcePath: string }): string {
  return path.startsWith(packageDirectory) ? relative(packageDirectory, path) : path;
}

/** Webpack's errors reach the caller in the exception; its progress reaches nobody. */
const silence: Logger = {
  log() {},
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
};

export function defaultCacheDirectories(): readonly string[] {
  const ofUser = join(envPaths('holdfast', { suffix: '' }).cache, 'workflows');
  return isInstalled
    ? [ofUser]
    : [join(packageDirectory, 'node_modules', '.cache', 'holdfast'), ofUser];
}

/** A key of the workflow code, of what it imports and of how it is built. */
export async function contentKey(directories: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  // Length before content, so that no two sets of files give the same stream of bytes.
  const add = (part: string) => hash.update(`${part.length}:${part}`);
  add(JSON.stringify(optimization));
  const require = createRequire(import.meta.url);
  for (const name of ['@temporalio/worker', '@temporalio/workflow', '@noble/hashes']) {
    add(name);
    add(packageVersion(require, name));
  }
  for (const directory of directories) {
    for (const file of await filesOf(directory)) {
      add(relative(directory, file).split(sep).join('/'));
      add(await readFile(file, 'utf8'));
    }
  }
  return hash.digest('hex').slice(0, 32);
}

function packageVersion(require: NodeJS.Require, name: string): string {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      const manifest = require(join(folder, name, 'package.json')) as { version: string };
      return manifest.version;
    } catch {
      // Not in this folder: look in the next.
    }
  }
  throw new Error(`The package ${name} is not installed; run npm install.`);
}

async function filesOf(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

export async function firstWritable(directories: readonly string[]): Promise<string> {
  let failure: unknown;
  for (const directory of directories) {
    try {
      await mkdir(directory, { recursive: true });
      const probe = join(directory, `${randomUUID()}.tmp`);
      await writeFile(probe, '');
      await rm(probe);
      return directory;
    } catch (error) {
      failure = error;
    }
  }
  throw new Error(
    `No folder for the workflow bundle can be written (tried ${directories.join(', ')}); make one of them writable.`,
    { cause: failure },
  );
}

/** A file appears under its name only when complete. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${randomUUID()}.tmp`;
  await writeFile(unfinished, text);
  await rename(unfinished, path);
}

/** Whether the file is there; marks it as used. */
export async function touch(path: string): Promise<boolean> {
  try {
    const now = new Date();
    await utimes(path, now, now);
    return true;
  } catch {
    return false;
  }
}

/** Best effort: another process may remove the same files. */
export async function removeUnused(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith('workflows-')) continue;
    const path = join(directory, name);
    const used = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - used > unusedAfterMs) await rm(path, { force: true });
  }
}
