// The package as users have it: packed, and installed by npm into an empty folder, with an empty cache and a
// home of its own.

import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const project = fileURLToPath(new URL('project', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly finished: Promise<Finished>;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Sends a signal to the process and all its children, as a terminal does, or to it alone. */
  signal(name: NodeJS.Signals, to?: 'all' | 'itself'): void;
}

export interface InstalledPackage extends AsyncDisposable {
  /** The user's project. */
  readonly directory: string;
  readonly home: string;
  /** What `npm pack` says. */
  readonly packed: {
    readonly size: number;
    readonly unpackedSize: number;
    readonly files: readonly { readonly path: string; readonly mode: number }[];
  };
  /** Runs a command in the user's project. */
  start(command: string, args: readonly string[], environment?: NodeJS.ProcessEnv): Running;
  /** Likewise, to its end. @throws when it fails */
  run(command: string, args: readonly string[], environment?: NodeJS.ProcessEnv): Promise<string>;
}

export async function installPackage(...others: readonly string[]): Promise<InstalledPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-package-'));
  const directory = join(folder, 'project');
  const home = join(folder, 'home');
  await mkdir(home);
  await cp(project, directory, { recursive: true });
  const running = new Set<Running>();

  const startIn = (
    cwd: string,
    command: string,
    args: readonly string[],
    environment: NodeJS.ProcessEnv = {},
  ): Running => {
    const started = startCommand(cwd, command, args, { ...cleanEnvironment(home), ...environment });
    running.add(started);
    void started.finished.then(() => running.delete(started));
    return started;
  };
  const runIn = async (...call: Parameters<typeof startIn>): Promise<string> => {
    const { code, stdout, stderr } = await startIn(...call).finished;
    if (code === 0) return stdout;
    throw new Error(`${call[1]} ${call[2].join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  };

  const said = await runIn(root, 'npm', ['pack', '--json', '--pack-destination', folder]);
  const [packed] = JSON.parse(said) as (InstalledPackage['packed'] & { filename: string })[];
  if (packed === undefined) throw new Error(`npm pack said ${said}`);
  const manifest = JSON.stringify({ name: 'project', private: true, type: 'module' });
  await writeFile(join(directory, 'package.json'), manifest);
  const cache = ['--cache', join(folder, 'cache'), '--no-audit', '--no-fund'];
  await runIn(directory, 'npm', ['install', ...cache, join(folder, packed.filename), ...others]);

  return {
    directory,
    home,
    packed,
    start: (...call) => startIn(directory, ...call),
    run: (...call) => runIn(directory, ...call),
    async [Symbol.asyncDispose]() {
      for (const one of running) {
        one.signal('SIGKILL');
        await one.finished;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Without what `npm test` and vitest left in it, and without any setting of Temporal's or a provider's. */
function cleanEnvironment(home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_)|TEMPORAL_|OPENAI_|HOLDFAST_|XDG_|VITEST|NODE_ENV$)/.test(name),
  );
  return { ...Object.fromEntries(kept), HOME: home };
}

function startCommand(
  cwd: string,
  command: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Running {
  // A process group of its own, so that what npm starts is ended with it.
  const child = spawn(command, args, { cwd, env: environment, detached: true });
  let stdout = '';
  let stderr = '';
  child.stdin.end();
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return {
    finished: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    }),
    stdout: () => stdout,
    stderr: () => stderr,
    signal(name, to = 'all') {
      try {
        if (child.pid !== undefined) process.kill(to === 'all' ? -child.pid : child.pid, name);
      } catch {
        // It has ended.
      }
    },
  };
}
