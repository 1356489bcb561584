// The bare loop's workflow bundle, built once per run of the benchmark.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

export async function bundleBareLoop(folder: string): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('bare-loop-workflow.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
  const path = join(folder, 'bare-loop.js');
  await writeFile(path, code);
  return path;
}
