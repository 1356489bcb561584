// A worker as a process of its own: Holdfast's, or that of the bare loop. Its one argument is
// WorkerProcessOptions as JSON; it writes `ready` when it polls.

import { NativeConnection, Worker } from '@temporalio/worker';
import { createAgentWorker } from '../src/worker/create-worker.js';
import { createBareActivities } from './bare-loop-activities.js';
import type { WorkerProcessOptions } from './processes.js';
import { benchWorkerConfig } from './worker-config.js';

const options = JSON.parse(process.argv[2] ?? '') as WorkerProcessOptions;
const { address, taskQueue } = options;
const connection = await NativeConnection.connect({ address });
const worker =
  options.kind === 'bare'
    ? await Worker.create({
        connection,
        taskQueue,
        workflowBundle: { codePath: options.bundlePath },
        activities: createBareActivities(options.baseURL),
      })
    : await createAgentWorker({ config: benchWorkerConfig(options), connection, taskQueue });
const ended = worker.run();
process.stdout.write('ready\n');
process.once('SIGTERM', () => worker.shutdown());
await ended;
await connection.close();
