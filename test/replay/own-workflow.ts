// A workflow of one's own whose history is kept: `histories/own`. It belongs to what was recorded, so it never
// changes; what has to be kept as well gets a workflow and a history of its own.

import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import { createAgent } from '../../src/workflows/library.js';

/** Two agents at the same time, hooks that wait, an abort, a cancelled scope, and serving. */
export async function duet(): Promise<string> {
  let checks = 0;
  const first = createAgent({
    name: 'first',
    hooks: {
      beforeToolCall: async ({ args }) => {
        checks += 1;
        await sleep(1);
        return { arguments: { ...args, timeout: 5 } };
      },
      afterToolCall: async () => {
        await condition(() => checks > 0);
        return { details: 'seen' };
      },
      prepareNextTurn: () => ({ systemPrompt: 'Go on.' }),
      shouldStopAfterTurn: ({ turn }) => turn === 3,
    },
  });
  const second = createAgent({ name: 'second', limits: { maxTurns: 2 } });
  second.followUp('And then?');
  await Promise.all([first.run('One.'), second.run('Two.')]);

  const scope = new CancellationScope();
  const cancelled = scope.run(() => second.run('Three.')).catch(isCancellation);
  await condition(() => second.state().pendingToolCalls.length > 0);
  scope.cancel();
  await cancelled;

  const { endedBy } = await first.serve();
  second.close();
  return endedBy;
}
