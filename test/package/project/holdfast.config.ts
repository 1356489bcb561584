import { defineConfig, defineTool } from 'holdfast';
import { z } from 'zod';

const search = defineTool({
  name: 'search_notes',
  description: 'Finds notes that contain a word.',
  parameters: z.object({ word: z.string(), most: z.number().default(3) }),
  effects: 'read-only',
  execute: ({ word, most }) => `${most} notes have ${word}.`,
});

const workflows = process.env['WORKFLOWS'];

export default defineConfig({
  models: { default: { model: 'scripted', baseURL: process.env['MODEL_URL'] ?? '' } },
  tools: [search],
  ...(workflows === undefined ? {} : { workflows }),
});
