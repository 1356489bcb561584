// A worker and a client in one program, made by the library alone, with the config that is named. Prints
// the answer of an agent, and what a workflow around an agent makes of it.

import { AgentClient } from 'holdfast';
import { NativeConnection, createAgentWorker, loadConfig } from 'holdfast/worker';

const [address, taskQueue, file] = process.argv.slice(2);
const { config } = await loadConfig(file);
const connection = await NativeConnection.connect({ address });
const worker = await createAgentWorker({ config, connection, taskQueue });
const ended = worker.run();
const client = await AgentClient.connect({ address, taskQueue });
const run = await client.start('Look for the tide');
const { response } = await run.result();
console.log(response?.content);
const { workflow } = client.temporal;
const own = { taskQueue, workflowId: `shout-${taskQueue}`, args: ['Look for the tide'] };
console.log(await workflow.execute('shout', own));
await client.close();
worker.shutdown();
await ended;
await connection.close();
