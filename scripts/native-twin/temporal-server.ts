// The Temporal server with the settings of docker-compose.yml, on ports of its own, that can be killed and
// started again.

import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { answers } from '../../src/dev-server/launch.js';
import { host, isPortFree } from '../../src/dev-server/ports.js';
import type { TemporalBinaries } from './binaries.js';
import { lastLines, startChild, untilReady } from './child.js';
import type { Child } from './child.js';
import { healthUrlOf, root } from './compose-settings.js';
import type { ServiceSettings } from './compose-settings.js';

const portVariables = ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'].flatMap((part) => [
  `${part}_GRPC_PORT`,
  `${part}_MEMBERSHIP_PORT`,
]);

export interface TemporalServerOptions {
  readonly binaries: TemporalBinaries;
  /** Path of the `temporal` command. */
  readonly temporalPath: string;
  readonly databasePort: number;
  readonly settings: (service: string) => ServiceSettings;
  readonly folder: string;
  readonly logFile: string;
  /** Called as soon as there is a process, so that it can be stopped before it is ready. */
  readonly started: (server: TemporalServer) => void;
}

export class TemporalServer {
  readonly address: string;
  readonly #options: TemporalServerOptions;
  readonly #port: number;
  readonly #environment: NodeJS.ProcessEnv;
  #child: Child | undefined;

  private constructor(options: TemporalServerOptions, environment: NodeJS.ProcessEnv) {
    this.#options = options;
    this.#environment = environment;
    this.#port = Number(environment['FRONTEND_GRPC_PORT']);
    this.address = `${host}:${this.#port}`;
  }

  /** Sets the schema up, starts the server and registers the namespace, with the scripts of the deployment. */
  static async create(options: TemporalServerOptions): Promise<TemporalServer> {
    const programs = join(options.folder, 'bin');
    await mkdir(programs);
    await symlink(options.binaries.sqlTool, join(programs, 'temporal-sql-tool'));
    await symlink(options.temporalPath, join(programs, 'temporal'));
    const path = `${programs}${delimiter}${process.env['PATH']}`;
    const base = { PATH: path, HOME: options.folder };
    const run = (script: string, service: string, changes: NodeJS.ProcessEnv) =>
      promisify(execFile)('/bin/sh', [join(root, 'deploy/temporal', script)], {
        env: { ...base, ...options.settings(service).environment, ...changes },
        timeout: 120_000,
      });

    const database = String(options.databasePort);
    await run('set-up-schema.sh', 'temporal-schema', { SQL_HOST: host, SQL_PORT: database });
    const ports: Record<string, string> = {};
    for (const variable of [...portVariables, 'FRONTEND_HTTP_PORT']) {
      ports[variable] = String(await lowPort(Object.values(ports)));
    }
    const server = new TemporalServer(options, {
      ...base,
      ...options.settings('temporal').environment,
      POSTGRES_SEEDS: host,
      DB_PORT: database,
      BIND_ON_IP: host,
      DYNAMIC_CONFIG_FILE_PATH: join(root, 'deploy/temporal/dynamicconfig.yaml'),
      ...ports,
    });
    const child = server.#launch();
    options.started(server);
    const { address } = server;
    const registered = run('create-namespace.sh', 'temporal-namespace', {
      TEMPORAL_ADDRESS: address,
    });
    // Without a server it would go on trying.
    const over = child.ended.then((how) => {
      throw new Error(`The Temporal server: ${how}.\n${lastLines(options.logFile)}`);
    });
    over.catch(() => undefined);
    await Promise.race([registered, over]);
    await server.#untilItAnswers(child);
    return server;
  }

  /** Resolves when it answers and its health check, that of the deployment, succeeds. */
  async start(): Promise<void> {
    await this.#untilItAnswers(this.#launch());
  }

  async kill(): Promise<void> {
    await this.#child?.kill();
  }

  async stop(): Promise<void> {
    await this.#child?.stop('SIGTERM');
  }

  #launch(): Child {
    this.#child = startChild(this.#options.binaries.server, ['start'], {
      logFile: this.#options.logFile,
      cwd: this.#options.folder,
      env: this.#environment,
    });
    return this.#child;
  }

  #untilItAnswers(child: Child): Promise<void> {
    const { logFile, settings } = this.#options;
    const health = healthUrlOf(
      settings('temporal'),
      Number(this.#environment['FRONTEND_HTTP_PORT']),
    );
    const isReady = async () => (await answers(this.#port)) && (await isOk(health));
    const what = 'The Temporal server';
    return untilReady({ what, isReady, child, logFile, timeoutMs: 60_000 });
  }
}

function isOk(url: URL): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** The server's table of its own processes keeps ports in 16 bits with a sign. */
async function lowPort(taken: readonly string[]): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    if (!taken.includes(String(port)) && (await isPortFree(port))) return port;
  }
}
