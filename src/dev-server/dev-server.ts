// The local Temporal server of `holdfast dev`: one per user, on a persistent database.
//
// It outlives whoever started it by accident: a server orphaned by a killed process is adopted by the
// next start, and a killed server is started again on the same database and ports.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { databaseOf, defaultDataDirectory, logFileOf } from './directories.js';
import { launch, waitUntilItAnswers } from './launch.js';
import type { LaunchedServer } from './launch.js';
import { withLock } from './lock.js';
import { choosePort, host, isPortFree } from './ports.js';
import { endServer, isAlive, isServerRunning } from './server-process.js';
import { readState, writeState } from './state-file.js';
import type { DevServerState } from './state-file.js';
import type { EnsureExecutableOptions } from './executable.js';
import { ensureTemporalCli } from './temporal-cli.js';

export interface StartDevServerOptions extends EnsureExecutableOptions {
  /** Where database, log and state are. Default: the user's data folder. */
  readonly dataDirectory?: string;
  /** This port or an error. Default: the one used last, 7233, or any that is free. */
  readonly port?: number;
  /** Likewise; 8233. */
  readonly uiPort?: number;
}

export interface DevServer {
  /** `host:port` for clients and workers. */
  readonly address: string;
  /** The Web UI. */
  readonly uiAddress: string;
  readonly pid: number;
  /** Whether the server ran already. */
  readonly adopted: boolean;
  /** The file its messages go to. */
  readonly logFile: string;
  /** The `temporal` executable it was started with; undefined where the state file does not say. */
  readonly temporalPath: string | undefined;
  /** Resolves when the server is gone though `stop` was not called. */
  readonly gone: Promise<void>;
  /** Lets go of the server, and ends it unless another process uses it. */
  stop(): Promise<void>;
}

const readyTimeoutMs = 30_000;
const preferredPort = 7233;
const preferredUiPort = 8233;

export async function startDevServer(options: StartDevServerOptions = {}): Promise<DevServer> {
  const directory = options.dataDirectory ?? defaultDataDirectory;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const log = options.log ?? (() => {});
  const locked = <T>(action: () => Promise<T>) =>
    withLock(join(directory, 'lock'), action, () =>
      log('Another process is starting or stopping the local Temporal server; waiting for it …'),
    );
  const running = await locked(() => adopt(directory, options, log));
  if (running !== undefined) return toDevServer(directory, running, true, locked);

  // A download may take minutes: not while others wait for the lock.
  const temporalPath = await ensureTemporalCli(options);
  return locked(async () => {
    const sinceRunning = await adopt(directory, options, log);
    if (sinceRunning !== undefined) return toDevServer(directory, sinceRunning, true, locked);
    return toDevServer(directory, await start(directory, temporalPath, options), false, locked);
  });
}

type RunningState = DevServerState & { readonly pid: number };

/** The server of the state file, if it runs and answers. One that does not answer is ended. */
async function adopt(
  directory: string,
  options: StartDevServerOptions,
  log: (line: string) => void,
): Promise<RunningState | undefined> {
  const state = readState(directory);
  if (state?.pid === undefined) return undefined;
  const server = { pid: state.pid, database: databaseOf(directory) };
  if (!(await isServerRunning(server))) return undefined;
  assertPort(state, options);
  if (!(await waitUntilItAnswers(state.port, 10_000))) {
    log(`The local Temporal server (process ${server.pid}) does not answer; starting it again …`);
    await endServer(server, 1_000);
    return undefined;
  }
  const users = [...state.users.filter(isAlive), process.pid];
  const adopted = { ...state, pid: server.pid, users };
  writeState(directory, adopted);
  return adopted;
}

function assertPort(state: DevServerState, { port, uiPort }: StartDevServerOptions): void {
  const other =
    (port !== undefined && port !== state.port) ||
    (uiPort !== undefined && uiPort !== state.uiPort);
  if (!other) return;
  throw new Error(
    `The local Temporal server runs already on port ${state.port} with its Web UI on ${state.uiPort} (process ${state.pid}); stop it first, or leave the ports out to use it.`,
  );
}

async function start(
  directory: string,
  temporalPath: string,
  options: StartDevServerOptions,
): Promise<RunningState> {
  const last = readState(directory);
  let problem = '';
  // Another program may take a port between the look and the start: three tries.
  for (let attempt = 1; attempt <= 3; attempt++) {
    const port = await portFor(options.port, last?.port ?? preferredPort, '--port');
    const uiPort = await portFor(options.uiPort, last?.uiPort ?? preferredUiPort, '--ui-port');
    const database = databaseOf(directory);
    const logFile = logFileOf(directory);
    const environment = options.environment ?? process.env;
    const server = launch({ temporalPath, port, uiPort, database, logFile, environment });
    const state = { port, uiPort, pid: server.pid, users: [process.pid], temporalPath };
    writeState(directory, state);
    if (await waitUntilItAnswers(port, readyTimeoutMs, () => server.ended() !== undefined)) {
      return state;
    }
    problem = await endFailed(server, database);
    if (!/address already in use/.test(problem)) break;
  }
  throw new Error(
    `The local Temporal server did not start: ${problem} (its messages are in ${logFileOf(directory)})`,
  );
}

async function endFailed(server: LaunchedServer, database: string): Promise<string> {
  const problem = server.ended();
  if (problem !== undefined) return problem;
  await endServer({ pid: server.pid, database });
  return `it did not answer within ${readyTimeoutMs / 1000} s`;
}

async function portFor(
  asked: number | undefined,
  preferred: number,
  flag: string,
): Promise<number> {
  if (asked === undefined) return choosePort(preferred);
  if (await isPortFree(asked)) return asked;
  throw new Error(
    `Port ${asked} is in use by another program; choose another ${flag}, or leave it out to get one that is free.`,
  );
}

function toDevServer(
  directory: string,
  state: RunningState,
  adopted: boolean,
  locked: <T>(action: () => Promise<T>) => Promise<T>,
): DevServer {
  const server = { pid: state.pid, database: databaseOf(directory) };
  let reportGone = () => {};
  const gone = new Promise<void>((resolve) => (reportGone = resolve));
  const watch = setInterval(() => {
    void isServerRunning(server).then((running) => running || reportGone());
  }, 500).unref();
  return {
    address: `${host}:${state.port}`,
    uiAddress: `http://${host}:${state.uiPort}`,
    pid: state.pid,
    adopted,
    logFile: logFileOf(directory),
    temporalPath: state.temporalPath,
    gone,
    async stop() {
      clearInterval(watch);
      await locked(async () => {
        const now = readState(directory);
        if (now?.pid !== state.pid) return;
        const users = withoutOne(now.users, process.pid).filter(isAlive);
        if (users.length === 0) await endServer(server);
        const { pid: _, ...stopped } = now;
        writeState(directory, users.length === 0 ? { ...stopped, users } : { ...now, users });
      });
    },
  };
}

function withoutOne(users: readonly number[], user: number): number[] {
  const index = users.indexOf(user);
  return users.filter((_, position) => position !== index);
}
