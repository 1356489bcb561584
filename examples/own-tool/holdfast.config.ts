// An agent with two tools of its own. One only reads, and is run again when its worker was lost; the other
// has an effect, is never run twice, and asks a person first. With a key, in this folder:
//
//   npx holdfast dev       (in a checkout: npm run -s holdfast -- dev --config examples/own-tool/holdfast.config.ts)
//   npx holdfast run "Order three pears if one costs less than a euro"

import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineConfig, defineTool } from 'holdfast';
import { z } from 'zod';

const prices = { apple: 0.4, pear: 0.55 };
const fruit = z.enum(['apple', 'pear']);

const price = defineTool({
  name: 'price',
  description: 'Tells what a fruit costs, in euros.',
  parameters: z.object({ fruit }),
  effects: 'read-only',
  execute: (args) => `One ${args.fruit} costs ${prices[args.fruit]} euros.`,
});

const order = defineTool({
  name: 'order',
  description: 'Orders fruit.',
  parameters: z.object({ fruit, count: z.int().positive() }),
  effects: 'non-idempotent',
  execute: async (args, { workspace }) => {
    await appendFile(join(workspace.root, 'orders.txt'), `${args.count} ${args.fruit}\n`);
    return 'Ordered.';
  },
});

export default defineConfig({
  tools: [price, order],
  agents: { default: { tools: ['price', 'order'], approval: { order: 'ask' } } },
});
