// Starts the server's process and waits until it answers.

import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { Connection } from '@temporalio/client';
import { host } from './ports.js';
import { waitFor } from './server-process.js';

/**
 * Settings of a server for one person.
 *
 * Out of the box it looks at its queues 20 times a second, which makes every activity of a lone session
 * wait 50 to 100 ms; and it allows clocks of several hosts to differ by a second, by which every timer,
 * retry and time-out is late. Here is one host. It does not ask the internet for news.
 */
export const serverSettings: readonly string[] = [
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
  'history.visibilityProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxTimeShift="50ms"',
  'frontend.enableServerVersionCheck=false',
];

const maxLogBytes = 5_000_000;

export interface LaunchOptions {
  readonly temporalPath: string;
  readonly port: number;
  readonly uiPort: number;
  readonly database: string;
  readonly logFile: string;
  readonly environment: NodeJS.ProcessEnv;
}

export interface LaunchedServer {
  readonly pid: number;
  /** Why it ended; undefined while it runs. */
  readonly ended: () => string | undefined;
}

/**
 * The server gets a session and a log file of its own: neither Ctrl-C in this terminal nor the death of
 * this process reaches it.
 */
export function launch(options: LaunchOptions): LaunchedServer {
  const log = openLog(options.logFile);
  const logStart = statSync(options.logFile).size;
  const child = spawn(options.temporalPath, commandLine(options), {
    detached: true,
    stdio: ['ignore', log, log],
    env: options.environment,
  });
  closeSync(log);
  let ending: string | undefined;
  child.once('error', (error) => (ending = error.message));
  child.once('exit', (code, signal) => (ending = `it ended with ${signal ?? `code ${code}`}`));
  child.unref();
  return {
    pid: child.pid ?? 0,
    ended: () => ending && (lastLines(options.logFile, logStart) || ending),
  };
}

function commandLine({ port, uiPort, database }: LaunchOptions): string[] {
  const flags: [flag: string, value: string][] = [
    ['--ip', host],
    ['--port', String(port)],
    ['--ui-port', String(uiPort)],
    ['--db-filename', database],
    ['--log-level', 'warn'],
    ...serverSettings.map((setting): [string, string] => ['--dynamic-config-value', setting]),
  ];
  return ['server', 'start-dev', ...flags.flat()];
}

/** Whether the server answers and has its namespace; never takes longer than two seconds. */
export async function answers(port: number): Promise<boolean> {
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ address: `${host}:${port}`, connectTimeout: 1_000 });
    const { workflowService } = connection;
    await connection.withDeadline(Date.now() + 1_000, () =>
      workflowService.describeNamespace({ namespace: 'default' }),
    );
    return true;
  } catch {
    return false;
  } finally {
    await connection?.close();
  }
}

/** True once it answers, false when the time is up or `isOver` says that it never will. */
export async function waitUntilItAnswers(
  port: number,
  timeoutMs: number,
  isOver: () => boolean = () => false,
): Promise<boolean> {
  let answered = false;
  await waitFor(async () => isOver() || (answered = await answers(port)), timeoutMs);
  return answered;
}

function openLog(path: string): number {
  const log = openSync(path, 'a', 0o600);
  if (statSync(path).size < maxLogBytes) return log;
  closeSync(log);
  return openSync(path, 'w', 0o600);
}

function lastLines(path: string, from: number): string {
  try {
    const written = readFileSync(path).subarray(from).toString('utf8').trim();
    return written.split('\n').slice(-3).join('\n');
  } catch {
    return '';
  }
}
