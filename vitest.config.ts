import { defineConfig } from 'vitest/config';

const bundle = 'test/support/bundle-setup.ts';
const server = 'test/support/server-setup.ts';
const slow = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{replay,recovery}/**', '**/*.workflow.test.ts'],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'workflow',
          include: ['test/**/*.workflow.test.ts'],
          globalSetup: [bundle, server],
          ...slow,
        },
      },
      {
        test: {
          name: 'replay',
          include: ['test/replay/**/*.test.ts'],
          globalSetup: [bundle],
          ...slow,
        },
      },
      {
        test: {
          name: 'recovery',
          include: ['test/recovery/**/*.test.ts'],
          globalSetup: [bundle, server],
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
