// Starts an agent, tells it something more while it works, and prints what happens. Needs a worker:
//
//   npx holdfast dev                                      (in a checkout: npm run -s holdfast -- dev)
//   npx tsx examples/client/client.ts "List the files here"

import { AgentClient } from 'holdfast';

await using client = await AgentClient.connect();
const run = await client.start({ prompt: process.argv[2] ?? 'List the files here' });
console.log(`Started ${run.workflowId}.`);

// Enters before its next model call, whatever it does just now.
await run.steer('Answer in one sentence.');

// Live text and logged events, each once and in order. It survives workers and servers that go away.
for await (const event of run.events()) {
  if (event.type === 'message_update') {
    process.stdout.write(event.text);
  } else if (event.type === 'message_end' && event.unshown !== undefined) {
    console.log(event.unshown);
  } else if (event.type === 'tool_execution_start') {
    console.log(`${event.toolName} ${JSON.stringify(event.args)}`);
  } else if (event.type === 'approval_requested') {
    console.log(`Waits for you: npx holdfast approve ${run.workflowId}`);
  } else if (event.type === 'tool_execution_end') {
    console.log(event.isError ? 'That failed.' : 'That worked.');
  }
}

const { stopReason, turns } = await run.result();
console.log(`It ended with ${stopReason} after ${turns} turns.`);
