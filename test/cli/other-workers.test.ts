import { hostname } from 'node:os';
import type { NativeConnection } from '@temporalio/worker';
import { describe, expect, test } from 'vitest';
import { otherWorkers } from '../../src/cli/other-workers.js';

const now = () => ({ seconds: Math.floor(Date.now() / 1000) });

async function othersAmong(
  pollers: readonly { readonly identity: string; readonly lastAccessTime: { seconds: number } }[],
): Promise<readonly string[]> {
  const connection = {
    workflowService: { describeTaskQueue: () => Promise.resolve({ pollers }) },
  } as unknown as NativeConnection;
  return otherWorkers(connection, 'default', 'holdfast');
}

describe('otherWorkers', () => {
  test('names workers of other hosts and live processes of this one', async () => {
    const live = `${process.ppid}@${hostname()}`;
    const pollers = [
      { identity: live, lastAccessTime: now() },
      { identity: '1@elsewhere', lastAccessTime: now() },
      { identity: 'a chosen name', lastAccessTime: now() },
    ];
    expect(await othersAmong(pollers)).toEqual([live, '1@elsewhere', 'a chosen name']);
  });

  test('leaves out what has ended, what has not polled for a while, and itself', async () => {
    // Above the largest process id of the usual systems.
    const ended = `99999999@${hostname()}`;
    const pollers = [
      { identity: ended, lastAccessTime: now() },
      { identity: `${process.pid}@${hostname()}`, lastAccessTime: now() },
      { identity: '1@elsewhere', lastAccessTime: { seconds: now().seconds - 120 } },
    ];
    expect(await othersAmong(pollers)).toEqual([]);
  });

  test('names nobody where the server does not say who polls', async () => {
    const refusal = () => Promise.reject(new Error('no permission'));
    const connection = { workflowService: { describeTaskQueue: refusal } };
    expect(
      await otherWorkers(connection as unknown as NativeConnection, 'default', 'holdfast'),
    ).toEqual([]);
  });
});
