import { defineConfig } from 'vitest/config';

const bundle = 'test/support/bundle-setup.ts';
const server = 'test/support/server-setup.ts';
// A poll waits for a state; on a busy machine that takes longer than the second it has by default.
const poll = { timeout: 40_000, interval: 50 };
const slow = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll } };

export default defineConfig({
  test: {
    // Most of a test's time is waiting: for heartbeats, retries, processes that start.
    maxWorkers: 3,
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
          // After the others: these kill processes and fill queues.
          sequence: { groupOrder: 1 },
          expect: { poll },
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
