// Which Temporal server is meant when nobody says so on the command line.

import { loadClientConfigProfile } from '@temporalio/envconfig';
import { readTemporalConfig, setVariables } from '../client/temporal-config.js';
import { databaseOf, defaultDataDirectory } from './directories.js';
import { host } from './ports.js';
import { isServerRunning } from './server-process.js';
import { readState } from './state-file.js';

/**
 * The address that TEMPORAL_ADDRESS or the profile of `temporal.toml` names; undefined when neither
 * does. With one, no local server is wanted.
 * @throws AgentClientError when they cannot be read
 */
export function configuredAddress(
  environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const overrideEnvVars = setVariables(environment);
  const profile = readTemporalConfig(() => loadClientConfigProfile({ overrideEnvVars }));
  return profile.address || undefined;
}

/** The address of the local server, when one runs: it may have another port than Temporal's own. */
export async function localServerAddress(
  dataDirectory: string = defaultDataDirectory,
): Promise<string | undefined> {
  const state = readState(dataDirectory);
  if (state?.pid === undefined) return undefined;
  const database = databaseOf(dataDirectory);
  const running = await isServerRunning({ pid: state.pid, database });
  return running ? `${host}:${state.port}` : undefined;
}
