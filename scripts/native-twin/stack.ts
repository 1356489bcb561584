// Everything the twin runs, in the order in which docker-compose.yml starts it. The Web UI only shows what is
// there, and is left out.

import { appendFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copySampleProject } from '../../src/demo/sample-project.js';
import { createScript } from '../../src/demo/script.js';
import { ignoreTemporalSettings } from '../../src/demo/setting.js';
import type { Belongings } from '../../src/demo/belongings.js';
import { ensureTemporalCli } from '../../src/dev-server/index.js';
import { defaultTaskQueue } from '../../src/protocol/session.js';
import { startScriptedModel } from '../../src/testing/scripted-model.js';
import type { ScriptedModel } from '../../src/testing/scripted-model.js';
import { postgresqlFolder, temporalBinaries } from './binaries.js';
import { composeSettings, versionOf } from './compose-settings.js';
import { Crew } from './crew.js';
import { Gates } from './gates.js';
import { Postgresql } from './postgresql.js';
import { TemporalServer } from './temporal-server.js';

export interface Stack {
  readonly workspace: string;
  /** What the processes write; kept when the twin fails. */
  readonly logs: string;
  readonly temporalPath: string;
  readonly postgresql: Postgresql;
  readonly server: TemporalServer;
  readonly crew: Crew;
  readonly model: ScriptedModel;
  readonly gates: Gates;
}

export interface HeldTurns {
  readonly modelCalls: readonly number[];
  readonly commands: readonly number[];
}

export async function startStack(
  held: HeldTurns,
  belongings: Belongings,
  log: (line: string) => void,
): Promise<Stack> {
  const settings = await composeSettings();
  const version = versionOf(settings('temporal'));
  const binaries = await temporalBinaries(version, log);
  const programs = await postgresqlFolder();
  const temporalPath = await ensureTemporalCli({ log });

  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-twin-')));
  belongings.add(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await ignoreTemporalSettings(folder);
  const logs = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-twin-logs-')));

  const databaseLog = join(logs, 'postgresql.log');
  const database = settings('postgresql');
  const postgresql = await Postgresql.create({
    programs,
    settings: database,
    logFile: databaseLog,
  });
  belongings.add(() => postgresql.stop());
  await postgresql.start();
  log(`PostgreSQL (${programs}) on port ${postgresql.port}`);

  const server = await TemporalServer.create({
    binaries,
    temporalPath,
    databasePort: postgresql.port,
    settings,
    folder,
    logFile: join(logs, 'temporal.log'),
    started: (child) => belongings.add(() => child.stop()),
  });
  log(`Temporal server ${version} on ${server.address}`);

  const workspace = join(folder, 'workspace');
  await mkdir(workspace);
  await copySampleProject(workspace);
  const gates = new Gates(folder, held.modelCalls, held.commands);
  const model = await startScriptedModel(createScript(gates.staging));
  belongings.add(() => model.close({ expectFaults: true }));
  const configFile = join(folder, 'holdfast.config.json');
  const models = { default: { model: 'scripted', baseURL: model.baseURL } };
  const workspaces = { default: { root: workspace } };
  await writeFile(configFile, JSON.stringify({ models, workspaces }));
  const { address } = server;
  const workerLog = join(logs, 'workers.log');
  const heard = (text: string) => appendFileSync(workerLog, text);
  const crew = new Crew({ address, taskQueue: defaultTaskQueue, configFile, heard }, belongings);
  await crew.complete();
  log('Two workers poll');
  return { workspace, logs, temporalPath, postgresql, server, crew, model, gates };
}
