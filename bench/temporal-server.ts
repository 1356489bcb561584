// A Temporal server for one run of the benchmark, with the settings that `holdfast dev` uses.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { endWithThisProcess } from './processes.js';
import { ensureTemporalCli, serverSettings } from '../src/dev-server/index.js';
import { choosePort, host } from '../src/dev-server/ports.js';

export interface TemporalServer extends AsyncDisposable {
  readonly address: string;
  readonly pid: number;
  /** Requests that the server was sent so far, of one kind, e.g. `RecordActivityTaskHeartbeat`. */
  requests(operation: string): Promise<number>;
}

export async function startTemporalServer(folder: string): Promise<TemporalServer> {
  const port = await choosePort(0);
  const metricsPort = await choosePort(0);
  const address = `${host}:${port}`;
  const child = spawn(
    await ensureTemporalCli(),
    [
      'server',
      'start-dev',
      '--headless',
      `--ip=${host}`,
      `--port=${port}`,
      `--metrics-port=${metricsPort}`,
      `--db-filename=${join(folder, 'temporal.db')}`,
      '--log-level=never',
      ...serverSettings.map((setting) => `--dynamic-config-value=${setting}`),
    ],
    { stdio: 'ignore' },
  );
  endWithThisProcess(child);
  const ended = once(child, 'exit');
  await untilItAnswers(address, () => child.exitCode !== null);
  return {
    address,
    pid: child.pid ?? 0,
    async requests(operation) {
      const response = await fetch(`http://${host}:${metricsPort}/metrics`);
      return countOf(await response.text(), operation);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Of the benchmark's namespace, at the server's front door: inside, services ask each other again. */
function countOf(metrics: string, operation: string): number {
  const name = `service_requests{namespace="default",operation="${operation}",service_name="frontend"}`;
  const line = metrics.split('\n').find((text) => text.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length));
}

async function untilItAnswers(address: string, isOver: () => boolean): Promise<void> {
  for (;;) {
    if (isOver()) throw new Error('The Temporal server ended before it answered.');
    try {
      const connection = await Connection.connect({ address, connectTimeout: 1_000 });
      await connection
        .withDeadline(Date.now() + 1_000, () =>
          connection.workflowService.describeNamespace({ namespace: 'default' }),
        )
        .finally(() => connection.close());
      return;
    } catch {
      await sleep(100);
    }
  }
}
