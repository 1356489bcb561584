// What Temporal's runtime says while tests run: that workflow code fails, which nothing else tells, and not
// that a scripted failure failed an activity, which tests see for themselves.

import { inspect } from 'node:util';
import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime, makeTelemetryFilterString } from '@temporalio/worker';

const expected =
  /^(Activity|Workflow) failed|heartbeat details may be lost|No workflows registered/;

/** Does nothing where the process has a runtime already: whoever installed it wants it so. */
export function installQuietRuntime(): void {
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    if (expected.test(message)) return;
    const error = meta?.['error'] ?? meta?.['failure'];
    const details = error === undefined ? '' : ` ${inspect(error)}`;
    process.stderr.write(`[${level}] ${message}${details}\n`);
  });
  const filter = makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' });
  try {
    Runtime.install({ logger, telemetryOptions: { logging: { forward: {}, filter } } });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
