// Two agents in one workflow, with a signal of its own. It runs in Temporal's sandbox, so it imports nothing
// but `holdfast/workflow` and Temporal's workflow API.

import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import { createAgent } from 'holdfast/workflow';

export const publishSignal = defineSignal('publish');

/** Writes a paragraph, has it reviewed, and saves it once a person says so, within thirty days. */
export async function article(topic: string): Promise<string> {
  let mayPublish = false;
  setHandler(publishSignal, () => {
    mayPublish = true;
  });

  const reviewer = createAgent({ agent: 'reviewer' });
  const writer = createAgent({
    agent: 'writer',
    hooks: {
      // A function of the workflow: it may wait for signals and timers as long as it likes.
      beforeToolCall: async () => {
        if (await condition(() => mayPublish, '30 days')) return undefined;
        return { block: true, reason: 'Nobody agreed to publish it.' };
      },
    },
  });

  const draft = await writer.run(`Write a paragraph about ${topic}.`);
  const review = await reviewer.run(`What should be better?\n\n${draft.response?.content}`);
  const final = await writer.run(
    `Write it again and save it as article.md. A reviewer says: ${review.response?.content}`,
  );
  return final.response?.content ?? '';
}
