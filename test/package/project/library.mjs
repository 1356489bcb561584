// A worker and a client in one program, made by the library alone. Prints the answer.

import { AgentClient } from 'holdfast';
import { NativeConnection, createAgentWorker, loadConfig } from 'holdfast/worker';

const [address, taskQueue] = process.argv.slice(2);
const { config } = await loadConfig();
const connection = await NativeConnection.connect({ address });
const worker = await createAgentWorker({ config, connection, taskQueue });
await worker.runUntil(async () => {
  const client = await AgentClient.connect({ address, taskQueue });
  const run = await client.start('Look for the tide');
  const { response } = await run.result();
  console.log(response?.content);
  await client.close();
});
await connection.close();
