// What a worker serves for the workflow of workflows.ts. In this folder, and in another terminal:
//
//   npx holdfast dev       (in a checkout: npm run -s holdfast -- dev --config examples/own-workflow/holdfast.config.ts)
//   temporal workflow start --type article --task-queue holdfast --workflow-id tea --input '"tea"'
//   temporal workflow signal --workflow-id tea --name publish
//   temporal workflow result --workflow-id tea

import { defineConfig } from 'holdfast';

export default defineConfig({
  workflows: './workflows.ts',
  agents: {
    writer: { systemPrompt: 'You write in plain words.', tools: ['write'] },
    reviewer: { systemPrompt: 'You say what is wrong, in one sentence.', tools: [] },
  },
});
