// What the demo plays in: a folder of its own with a copy of the sample project, a Temporal server on a
// database of its own, and a model: scripted, or the real one that the environment names.

import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UserConfig } from '../config/index.js';
import { ensureTemporalCli, startDevServer } from '../dev-server/index.js';
import type { DevServer } from '../dev-server/index.js';
import { startScriptedModel } from '../testing/scripted-model.js';
import type { ScriptedModel } from '../testing/scripted-model.js';
import type { Belongings } from './belongings.js';
import { copySampleProject } from './sample-project.js';
import { createScript } from './script.js';

export interface Setting {
  readonly workspace: string;
  readonly configFile: string;
  readonly server: DevServer;
  /** Path of the `temporal` executable. */
  readonly temporalPath: string;
  /** Absent: the real provider answers. */
  readonly model?: ScriptedModel;
}

export async function createSetting(
  belongings: Belongings,
  log: (line: string) => void,
): Promise<Setting> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-demo-')));
  belongings.add(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await ignoreTemporalSettings(folder);

  const workspace = join(folder, 'workspace');
  await copySampleProject(workspace);
  const model = await startModel(belongings);
  const config: UserConfig = {
    ...(model === undefined
      ? {}
      : { models: { default: { model: 'scripted', baseURL: model.baseURL } } }),
    workspaces: { default: { root: workspace } },
  };
  const configFile = join(folder, 'holdfast.config.json');
  await writeFile(configFile, JSON.stringify(config, undefined, 2));

  const dataDirectory = join(folder, 'server');
  await mkdir(dataDirectory);
  const temporalPath = await ensureTemporalCli({ log });
  const server = await startDevServer({ dataDirectory, log });
  belongings.add(() => server.stop());
  return {
    workspace,
    configFile,
    server,
    temporalPath,
    ...(model === undefined ? {} : { model }),
  };
}

export function hasRealProvider(): boolean {
  const { OPENAI_API_KEY: key = '', OPENAI_BASE_URL: url = '' } = process.env;
  return key !== '' || url !== '';
}

async function startModel(belongings: Belongings): Promise<ScriptedModel | undefined> {
  if (hasRealProvider()) return undefined;
  const model = await startScriptedModel(createScript());
  belongings.add(() => model.close({ expectFaults: true }));
  return model;
}

/** The server is the demo's own: address, TLS and keys of another must not reach it. */
export async function ignoreTemporalSettings(folder: string): Promise<void> {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('TEMPORAL_') && name !== 'TEMPORAL_CLI_PATH') delete process.env[name];
  }
  const file = join(folder, 'temporal.toml');
  await writeFile(file, '[profile.default]\n');
  process.env['TEMPORAL_CONFIG_FILE'] = file;
}
