// A PostgreSQL cluster of the twin's own, on a free port, that can be killed and started again on its data.

import { execFile } from 'node:child_process';
import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isProcessAlive } from '../../src/demo/worker-process.js';
import { choosePort, host } from '../../src/dev-server/ports.js';
import { startChild, untilReady } from './child.js';
import type { Child } from './child.js';
import type { ServiceSettings } from './compose-settings.js';

export interface PostgresqlOptions {
  /** Folder of its programs. */
  readonly programs: string;
  readonly settings: ServiceSettings;
  readonly logFile: string;
}

export class Postgresql {
  readonly port: number;
  readonly #options: PostgresqlOptions;
  readonly #folder: string;
  readonly #account: Account;
  #child: Child | undefined;

  private constructor(options: PostgresqlOptions, folder: string, account: Account, port: number) {
    this.#options = options;
    this.#folder = folder;
    this.#account = account;
    this.port = port;
  }

  /** Creates the cluster; `start` runs it. */
  static async create(options: PostgresqlOptions): Promise<Postgresql> {
    const account = await unprivilegedAccount();
    // A folder of its own: its user may not enter ours.
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-postgresql-'));
    const { uid, gid } = account;
    if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
    const { POSTGRES_USER: user = '', POSTGRES_PASSWORD: password = '' } =
      options.settings.environment;
    const passwordFile = join(folder, 'password');
    await writeFile(passwordFile, password);
    await promisify(execFile)(
      join(options.programs, 'initdb'),
      [
        `--pgdata=${join(folder, 'data')}`,
        `--username=${user}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--no-sync',
      ],
      account,
    );
    return new Postgresql(options, folder, account, await choosePort(0));
  }

  /** Resolves when it takes connections. */
  async start(): Promise<void> {
    const { programs, settings, logFile } = this.#options;
    const [, ...flags] = settings.command;
    const place = ['-D', join(this.#folder, 'data'), '-p', String(this.port)];
    const loopback = ['-c', `listen_addresses=${host}`, '-c', 'unix_socket_directories='];
    const child = startChild(join(programs, 'postgres'), [...place, ...flags, ...loopback], {
      logFile,
      cwd: this.#folder,
      ...this.#account,
    });
    this.#child = child;
    const isReady = () => this.#answers();
    await untilReady({ what: 'PostgreSQL', isReady, child, logFile, timeoutMs: 30_000 });
  }

  /** SIGKILL to every one of its processes. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const backends = await childrenOf(child.pid);
    // The first process first: it must not see its backends die and put things in order.
    const gone = child.kill();
    for (const pid of backends) killIfThere(pid);
    await gone;
    // It does not start while one of them holds its memory.
    for (const pid of backends) while (await isProcessAlive(pid)) await sleep(10);
  }

  async stop(): Promise<void> {
    await this.#child?.stop('SIGINT');
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #answers(): Promise<boolean> {
    const flags = ['--quiet', '--host', host, '--port', String(this.port), '--dbname', 'postgres'];
    return promisify(execFile)(join(this.#options.programs, 'pg_isready'), flags).then(
      () => true,
      () => false,
    );
  }
}

interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to be run by root. */
async function unprivilegedAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return {};
  const accounts = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .map((line) => line.split(':'));
  for (const wanted of ['postgres', 'nobody']) {
    const found = accounts.find(([name]) => name === wanted);
    if (found !== undefined) return { uid: Number(found[2]), gid: Number(found[3]) };
  }
  throw new Error('PostgreSQL cannot be run by root; call the twin as another user.');
}

async function childrenOf(parent: number): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, ppid] = line.trim().split(/\s+/).map(Number);
    return pid !== undefined && ppid === parent ? [pid] : [];
  });
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
