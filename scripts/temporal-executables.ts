// Gets the executables that the tests need where they are missing. Prints on stdout, as JSON, the
// environment variables that name them.

import { ensureTemporalCli, ensureTestServer } from '../src/dev-server/index.js';

const log = (line: string) => process.stderr.write(`${line}\n`);

try {
  const paths = {
    TEMPORAL_CLI_PATH: await ensureTemporalCli({ log }),
    TEMPORAL_TEST_SERVER_PATH: await ensureTestServer({ log }),
  };
  process.stdout.write(JSON.stringify(paths));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
