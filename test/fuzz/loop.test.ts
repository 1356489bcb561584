// The loop against a plain reading of its specification. The fake world checks the invariants besides.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holds } from './cases.js';
import { LoopModel } from './loop-model.js';
import { loopScript } from './loop-script.js';
import { playScript } from './loop-world.js';
import type { PlayedRun } from './loop-world.js';

describe('the agent loop', () => {
  test(
    'does what its specification says, whatever the model, tools, hooks and people do',
    holds(
      fc.asyncProperty(loopScript, fc.scheduler(), async (script, scheduler) => {
        for (const run of await playScript(script, scheduler)) expectAsModelled(run);
      }),
    ),
  );
});

function expectAsModelled(run: PlayedRun): void {
  const model = new LoopModel(run.setting);
  for (const step of run.steps) {
    expect(step.waitedFor).toEqual(model.waitsFor);
    model.take(step);
  }
  expect(run.waitsFor).toEqual(model.waitsFor);
  expect(run.outcome).toEqual(model.outcome);
  expect(run.transcript).toEqual(model.transcript);
  expect(run.events).toEqual(model.events);
  expect(run.queued).toEqual([...model.steering, ...model.followUps]);
  expect(run.executed).toEqual(model.executed);
}
