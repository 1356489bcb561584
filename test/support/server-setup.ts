// Starts one Temporal server for a test run. Projects are set up one by one; later ones inherit it.

import { TestWorkflowEnvironment } from '@temporalio/testing';
import type { TestProject } from 'vitest/node';
import { ensureTemporalCli, serverSettings } from '../../src/dev-server/index.js';
import './provided.js';

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if ('serverAddress' in project.getProvidedContext()) return undefined;
  const path = await ensureTemporalCli({ log: (line) => console.log(line) });
  const environment = await start(path);
  project.vitest.provide('temporalPath', path);
  project.vitest.provide('serverAddress', environment.address);
  return () => environment.teardown();
}

/** The SDK allows five seconds for the start, which a busy machine may need more than once. */
async function start(path: string): Promise<TestWorkflowEnvironment> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await TestWorkflowEnvironment.createLocal({
        server: {
          executable: { type: 'existing-path', path },
          log: { format: 'pretty', level: 'error' },
          extraArgs: serverSettings.flatMap((setting) => ['--dynamic-config-value', setting]),
        },
      });
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}
