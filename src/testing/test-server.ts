// The Temporal server that an environment's tests run against: one that skips time, a local one, or one
// that runs already.

import type * as TemporalTesting from '@temporalio/testing';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { ensureTemporalCli, ensureTestServer, serverSettings } from '../dev-server/index.js';
import { installQuietRuntime } from './quiet-runtime.js';
import type { TestServerOptions } from './test-server-options.js';

export async function startTestServer(
  options: TestServerOptions,
): Promise<TestWorkflowEnvironment> {
  const start = await prepareStart(options);
  // Not before something comes of it: the runtime would keep the process from ending.
  installQuietRuntime();
  // The SDK allows five seconds for the start, which a busy machine may need more than once.
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      if (attempt === 5 || options.address !== undefined) throw error;
    }
  }
}

async function prepareStart(
  options: TestServerOptions,
): Promise<() => Promise<TestWorkflowEnvironment>> {
  const { TestWorkflowEnvironment: Environment } = await importTemporalTesting();
  const { timeSkipping = false, address, log = toStderr } = options;
  if (address !== undefined) {
    if (timeSkipping) {
      throw new Error(
        'A server that runs already does not skip time; leave out address or timeSkipping.',
      );
    }
    return () => Environment.createFromExistingServer({ address });
  }
  if (timeSkipping) {
    const path = await ensureTestServer({ log });
    const executable = { type: 'existing-path', path } as const;
    return () => Environment.createTimeSkipping({ server: { executable } });
  }
  const path = await ensureTemporalCli({ log });
  const server = {
    executable: { type: 'existing-path', path } as const,
    // Tests have an output of their own.
    log: { format: 'pretty', level: 'never' },
    extraArgs: [
      '--output=none',
      ...serverSettings.flatMap((setting) => ['--dynamic-config-value', setting]),
    ],
  };
  return () => Environment.createLocal({ server });
}

/** Only those who test have it. */
async function importTemporalTesting(): Promise<typeof TemporalTesting> {
  try {
    return await import('@temporalio/testing');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes('@temporalio/testing')) throw error;
    throw new Error(
      "A test environment needs Temporal's package for tests, which is not installed: npm install --save-dev @temporalio/testing",
      { cause: error },
    );
  }
}

function toStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}
