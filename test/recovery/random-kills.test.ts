// Kills at random moments, by the harness of the benchmark, which does ten times as many. A seed that fails
// is given again by the environment variable KILLS_SEED.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { expect, inject, test } from 'vitest';
import { kills } from '../../bench/kills.js';

/** The replays' log is of no interest. */
Runtime.install({ logger: new DefaultLogger('ERROR', () => {}) });

test('five kills over runs of ten turns with mixed tools: every run ends with the right transcript, no effect happens twice', async () => {
  const seed = Number(process.env['KILLS_SEED'] ?? Math.floor(Math.random() * 1e6));
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-kills-'));
  const said: string[] = [];
  const report = await kills.run({
    address: inject('serverAddress'),
    folder,
    samples: undefined,
    kills: 5,
    seed,
    log: (line) => said.push(line),
  });
  console.log(said.join('\n'));
  const count = (wanted: string) => report.rows.find(({ what }) => what === wanted)?.samples[0];
  expect(count('violations')).toBe(0);
  expect(count('kills')).toBe(5);
  expect(count('runs')).toBeGreaterThanOrEqual(2);
  await rm(folder, { recursive: true, force: true });
}, 240_000);
