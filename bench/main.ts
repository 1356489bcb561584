// The benchmark: starts a Temporal server, runs the measures one after another and prints one table.

import { execFileSync } from 'node:child_process';
import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { ensureTemporalCli } from '../src/dev-server/index.js';
import { abort } from './abort.js';
import { engineTime } from './engine-time.js';
import { heartbeats } from './heartbeats.js';
import { historyBytes } from './history.js';
import { kills } from './kills.js';
import { liveText } from './live-text.js';
import { recovery } from './recovery.js';
import { isMet, toTable } from './report.js';
import type { Measure, Report } from './report.js';
import { startUp } from './start-up.js';
import { startTemporalServer } from './temporal-server.js';
import { throughput } from './throughput.js';

const measures: readonly Measure[] = [
  engineTime,
  throughput,
  heartbeats,
  historyBytes,
  abort,
  recovery,
  liveText,
  kills,
  startUp,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    n: { type: 'string', short: 'n' },
    kills: { type: 'string', default: '50' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(
    [
      'npm run bench -- [measure …] [-n samples] [--kills count] [--seed number] [--json]',
      '',
      ...measures.map(({ name, what }) => `  ${name.padEnd(12)} ${what}`),
      '',
    ].join('\n'),
  );
} else {
  process.exitCode = await main();
}

async function main(): Promise<number> {
  const unknown = positionals.filter((name) => !measures.some((measure) => measure.name === name));
  if (unknown.length > 0) {
    process.stderr.write(`There is no measure named ${unknown.join(', ')}; see --help.\n`);
    return 2;
  }
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const chosen = measures.filter(
    ({ name }) => positionals.length === 0 || positionals.includes(name),
  );
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'));
  const reports: Report[] = [];
  let isBroken = false;
  try {
    await using server = await startTemporalServer(folder);
    for (const { name, run } of chosen) {
      const log = (line: string) => process.stderr.write(`${name}: ${line}\n`);
      log(`begins, load ${loadText()}`);
      const own = join(folder, name);
      await mkdir(own);
      try {
        reports.push(
          await run({
            address: server.address,
            server,
            folder: own,
            samples: values.n === undefined ? undefined : Number(values.n),
            kills: Number(values.kills),
            seed: values.seed === undefined ? Date.now() % 1_000_000_000 : Number(values.seed),
            log,
          }),
        );
      } catch (error) {
        isBroken = true;
        log(`FAILED: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      }
      log(`ends, load ${loadText()}`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ machine: await machine(), reports })}\n`
      : `${toTable(reports)}\n${await machine()}\n`,
  );
  const isMissed = reports.some(({ rows }) => rows.some((row) => isMet(row) === false));
  return isBroken || isMissed ? 1 : 0;
}

function loadText(): string {
  return loadavg()
    .map((load) => load.toFixed(1))
    .join(' ');
}

async function machine(): Promise<string> {
  const cores = cpus();
  const cli = execFileSync(await ensureTemporalCli(), ['--version'], { encoding: 'utf8' }).trim();
  return `${cores.length} cores (${cores[0]?.model.trim()}), Node ${process.version}, ${cli}`;
}
