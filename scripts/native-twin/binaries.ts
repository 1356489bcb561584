// The programs the twin runs: PostgreSQL of the system, the Temporal server and its schema tool on PATH, named
// by a variable, or built from their Go module, once.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdir, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import envPaths from 'env-paths';

export interface TemporalBinaries {
  readonly server: string;
  readonly sqlTool: string;
}

/** The folder that has all of PostgreSQL's programs, the newest there is. */
export async function postgresqlFolder(): Promise<string> {
  // Debian keeps them off PATH, by version.
  const debian = '/usr/lib/postgresql';
  const versions = await readdir(debian).catch(() => []);
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions
      .toSorted((a, b) => Number(b) - Number(a))
      .map((version) => join(debian, version, 'bin')),
  ];
  for (const folder of folders) {
    const programs = ['initdb', 'postgres', 'pg_isready'].map((name) => join(folder, name));
    if ((await Promise.all(programs.map(isExecutable))).every(Boolean)) return folder;
  }
  throw new Error(
    'PostgreSQL was not found; install it (Debian: `apt-get install postgresql`) or put its `initdb` on PATH.',
  );
}

export async function temporalBinaries(
  version: string,
  log: (line: string) => void,
): Promise<TemporalBinaries> {
  const cache = join(envPaths('holdfast', { suffix: '' }).cache, `temporal-server-${version}`);
  const find = async (variable: string, name: string, built: string, modulePath: string) => {
    const named = process.env[variable];
    const path = named ?? (await inPath(name)) ?? (await cached(cache, built, modulePath));
    await assertVersion(path, version, variable);
    return path;
  };
  const cached = async (folder: string, built: string, modulePath: string) => {
    const path = join(folder, built);
    if (!(await isExecutable(path))) await goInstall(`${modulePath}@v${version}`, folder, log);
    return path;
  };
  const module = 'go.temporal.io/server/cmd';
  return {
    server: await find('TEMPORAL_SERVER_PATH', 'temporal-server', 'server', `${module}/server`),
    sqlTool: await find(
      'TEMPORAL_SQL_TOOL_PATH',
      'temporal-sql-tool',
      'sql',
      `${module}/tools/sql`,
    ),
  };
}

async function goInstall(
  target: string,
  folder: string,
  log: (line: string) => void,
): Promise<void> {
  if ((await inPath('go')) === undefined) {
    throw new Error(
      `Neither the Temporal server nor Go was found; install Go to build it, or set TEMPORAL_SERVER_PATH and TEMPORAL_SQL_TOOL_PATH.`,
    );
  }
  await mkdir(folder, { recursive: true });
  log(`go install ${target}: about ten minutes on two cores, once …`);
  const began = Date.now();
  const child = spawn('go', ['install', '-v', target], {
    env: { ...process.env, GOBIN: folder, GOFLAGS: '-buildvcs=false' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(child, 'close');
  let lines = 0;
  let last = '';
  for await (const line of createInterface(child.stderr)) {
    last = line;
    lines += 1;
    const seconds = Math.round((Date.now() - began) / 1_000);
    if (lines % 100 === 0) log(`  ${lines} packages, ${seconds} s: ${line}`);
  }
  const [code] = (await exit) as [number | null];
  if (code !== 0) throw new Error(`go install ${target} failed: ${last}`);
}

async function assertVersion(path: string, version: string, variable: string): Promise<void> {
  const { stdout } = await promisify(execFile)(path, ['--version']).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${path} cannot be run: ${reason}; correct or unset ${variable}.`);
  });
  if (stdout.includes(version)) return;
  throw new Error(
    `${path} is ${stdout.trim()}, docker-compose.yml has ${version}; correct or unset ${variable}.`,
  );
}

async function inPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name);
    if (folder !== '' && (await isExecutable(path))) return path;
  }
  return undefined;
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
