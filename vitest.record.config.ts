import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/replay/record.ts'],
    globalSetup: ['test/support/bundle-setup.ts', 'test/support/server-setup.ts'],
    testTimeout: 60_000,
  },
});
