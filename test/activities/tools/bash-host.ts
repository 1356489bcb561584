// A process that runs one command with the tool bash, for tests that kill it: `bash-host.ts ROOT COMMAND`.

import { createRedactor } from '../../../src/activities/secrets.js';
import { createBuiltInTools } from '../../../src/activities/tools/index.js';

const [, , root = '', command = ''] = process.argv;
const bash = createBuiltInTools().find((tool) => tool.name === 'bash');
await bash?.execute(
  { command },
  {
    toolCallId: 'call-1',
    toolName: 'bash',
    workspace: { name: 'default', root },
    signal: new AbortController().signal,
    attempt: 1,
    maxResultBytes: 50_000,
    maxImageBytes: 50_000,
    environment: { PATH: process.env['PATH'] ?? '' },
    maxTimeoutMs: 600_000,
    redacting: () => createRedactor().stream(),
    update: (text) => process.stdout.write(text),
  },
);
