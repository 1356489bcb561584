import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { startHeartbeat } from '../../src/activities/heartbeat.js';
import type { ToolProgress } from '../../src/protocol/live-views.js';

const view = (tail: string): ToolProgress => ({
  kind: 'tool',
  toolCallId: 'a',
  toolName: 'bash',
  attempt: 1,
  output: { offset: 0, tail },
});

/** The details of the heartbeats that an activity sends, as they come. */
function beatsOf(activity: (until: (count: number) => Promise<void>) => Promise<void>) {
  const environment = new MockActivityEnvironment();
  const beats: unknown[] = [];
  const waiting: (() => void)[] = [];
  environment.on('heartbeat', (details: unknown) => {
    beats.push(details);
    for (const look of waiting) look();
  });
  const until = (count: number) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (beats.length >= count) resolve();
      };
      waiting.push(look);
      look();
    });
  return environment.run(() => activity(until)).then(() => beats);
}

describe('heartbeats', () => {
  test('go on by themselves, each with the latest details', async () => {
    let asked = 0;
    const beats = await beatsOf(async (until) => {
      using heartbeat = startHeartbeat();
      await until(1);
      heartbeat.show(view('one'));
      await until(2);
      heartbeat.show(() => view(`asked ${++asked}`));
      await until(4);
    });
    expect(beats).toEqual([undefined, view('one'), view('asked 1'), view('asked 2')]);
  });

  test('carry at once what the next attempt must know', async () => {
    const beats = await beatsOf(async () => {
      using heartbeat = startHeartbeat();
      heartbeat.flush(view('failed once'));
      await Promise.resolve();
    });
    expect(beats).toEqual([view('failed once')]);
  });

  test('end with the activity, before the first as after it', async () => {
    const beats = await beatsOf(async (until) => {
      for (const count of [0, 1]) {
        const heartbeat = startHeartbeat();
        await until(count);
        heartbeat[Symbol.dispose]();
      }
      // A heartbeat started later beats while the ended ones are silent.
      using other = startHeartbeat();
      other.show(view('other'));
      await until(3);
    });
    expect(beats).toEqual([undefined, view('other'), view('other')]);
  });
});
