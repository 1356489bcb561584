// Histories of earlier runs, replayed with the present code.

import { DefaultLogger, Runtime, Worker, bundleWorkflowCode } from '@temporalio/worker';
import type { InjectedSinks, WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { beforeAll, describe, expect, test } from 'vitest';
import type { EventsPage } from '../../src/protocol/events.js';
import { refusingStorage } from '../../src/worker/refused-references.js';
import { keptNames, readKept, toLogEntry } from './kept.js';
import type { KeptHistory, LogEntry } from './kept.js';
import type { ReplaySinks } from './report-events.js';
import { scenarios } from './scenarios.js';

/** Keeps what the replaying workers log out of the tests' output. */
Runtime.install({ logger: new DefaultLogger('ERROR', () => {}) });

const path = (file: string) => new URL(file, import.meta.url).pathname;

const bundle = (workflowsPath: string) =>
  bundleWorkflowCode({
    workflowsPath: path(workflowsPath),
    workflowInterceptorModules: [path('./report-events.ts')],
  });

describe('kept histories', async () => {
  const names = await keptNames();
  let workflowBundle: WorkflowBundleWithSourceMap;
  beforeAll(async () => {
    workflowBundle = await bundle('../../src/workflows');
  });

  test('there is one of each scenario, and at least ten', () => {
    expect(names).toEqual(expect.arrayContaining(scenarios.map(({ name }) => name)));
    expect(names.length).toBeGreaterThanOrEqual(10);
  });

  test.each(names)('%s replays, and its replay gives the same events', async (name) => {
    const kept = await readKept(name);
    const replayed = await eventsOfReplay(kept, workflowBundle);
    expect(replayed).toEqual(kept.events);
    expect(replayed.length).toBeGreaterThan(5);
  });

  test('a workflow of one’s own replays, and its replay gives the same events', async () => {
    const kept = await readKept('own/duet');
    const replayed = await eventsOfReplay(kept, await bundle('./own-workflow.ts'));
    expect(replayed).toEqual(kept.events);
    expect(replayed.length).toBeGreaterThan(20);
  });
});

async function eventsOfReplay(
  { history }: KeptHistory,
  workflowBundle: WorkflowBundleWithSourceMap,
): Promise<readonly LogEntry[]> {
  const replayed: LogEntry[] = [];
  const sinks: InjectedSinks<ReplaySinks> = {
    replay: {
      events: {
        callDuringReplay: true,
        fn: (_info, page: EventsPage) => {
          replayed.push(...page.events.map((event) => toLogEntry(event)));
        },
      },
    },
  };
  const dataConverter = { externalStorage: refusingStorage };
  await Worker.runReplayHistory({ workflowBundle, sinks, dataConverter }, history);
  return replayed;
}
