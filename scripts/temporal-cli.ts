// Prints the path of the Temporal CLI on stdout, after getting it where it is missing.

import { ensureTemporalCli } from '../src/dev-server/index.js';

try {
  const path = await ensureTemporalCli({ log: (line) => process.stderr.write(`${line}\n`) });
  process.stdout.write(path);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
