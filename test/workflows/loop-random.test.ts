// Random scripts: a model, tools, hooks and people that do anything at any moment. The fake world checks
// the invariants after every run; a failure names the seed that repeats it.

import { expect, test } from 'vitest';
import type { PreparedCall } from '../../src/protocol/activities.js';
import type { StopReason } from '../../src/protocol/messages.js';
import type { ChatOutcome, RunOutcome } from '../../src/workflows/loop-effects.js';
import { createFakeWorld } from '../support/fake-effects.js';
import type { FakeWorld } from '../support/fake-effects.js';
import {
  asks,
  assistantMessage,
  deferred,
  failsWith,
  returns,
  says,
  toolCall,
  toolSpec,
  userMessage,
} from '../support/loop-values.js';
import { createRandom } from '../support/random.js';
import type { Random } from '../support/random.js';

const cases = 300;
const toolNames = ['free', 'free', 'free', 'gated', 'denied'];

/** A world in which every effect waits until the driver settles it. */
function createRandomWorld(random: Random) {
  const pending: (() => void)[] = [];
  /** Calls that must be executed if nobody aborts. */
  const executable = new Set<string>();
  let calls = 0;

  const later = <T>(value: () => T): Promise<T> => {
    const { promise, resolve } = deferred<T>();
    pending.push(() => resolve(value()));
    return promise;
  };
  const settledOr = (id: string, probability: number) => {
    if (!random.chance(probability)) return false;
    executable.delete(id);
    return true;
  };

  const answer = (): ChatOutcome => {
    if (random.chance(0.04)) return failsWith('HTTP 500');
    if (random.chance(0.3)) return says('answer');
    const list = Array.from({ length: 1 + random.below(4) }, () => {
      calls += 1;
      return toolCall(`c${calls}`, random.pick(toolNames));
    });
    const stopReason = random.pick<StopReason>(['toolUse', 'toolUse', 'toolUse', 'stop', 'length']);
    const prepared = list.map(({ id, name }): PreparedCall => {
      if (random.chance(0.15)) return { kind: 'settled', text: 'invalid' };
      // Not even calls that look ready are executed when the answer was cut off.
      if (name !== 'denied' && stopReason !== 'length') executable.add(id);
      return { kind: 'ready' };
    });
    return asks(list, { stopReason, prepared });
  };

  const has = { before: random.chance(0.5), after: random.chance(0.5), turn: random.chance(0.5) };
  const sequential = random.chance(0.2);
  const world = createFakeWorld({
    replies: Array.from({ length: 200 }, () => () => later(answer)),
    tools: [
      toolSpec('free', sequential ? { executionMode: 'sequential' } : {}),
      toolSpec('gated', { approval: 'ask' }),
      toolSpec('denied', { approval: 'deny' }),
    ],
    execute: ({ call }) =>
      later(() =>
        returns(`ran ${call.id}`, { isError: random.chance(0.2), terminate: random.chance(0.3) }),
      ),
    ...(has.before && {
      beforeToolCall: ({ call }) =>
        later(() => {
          if (settledOr(call.id, 0.15)) return { kind: 'blocked', reason: 'no' };
          if (settledOr(call.id, 0.1)) return { kind: 'threw', errorMessage: 'broke' };
          return { kind: 'proceed' };
        }),
    }),
    approve: ({ call }) =>
      later(() => (settledOr(call.id, 0.3) ? { kind: 'denied' } : { kind: 'approved' })),
    ...(has.after && {
      afterToolCall: () =>
        later(() =>
          random.chance(0.1)
            ? { kind: 'threw', errorMessage: 'broke' }
            : { kind: 'replaced', fields: random.chance(0.5) ? { isError: false } : {} },
        ),
    }),
    ...(has.turn && {
      prepareNextTurn: () =>
        later(() =>
          random.chance(0.02)
            ? { kind: 'threw', errorMessage: 'broke' }
            : { kind: 'view', view: {} },
        ),
      shouldStopAfterTurn: () => later(() => ({ kind: 'answer', stop: random.chance(0.03) })),
    }),
    abortedChat: () =>
      random.chance(0.5)
        ? { kind: 'aborted' }
        : {
            kind: 'message',
            message: assistantMessage([toolCall(`aborted-${(calls += 1)}`)], 'aborted'),
            prepared: [],
          },
    steeringMode: random.pick(['one-at-a-time', 'all']),
    followUpMode: random.pick(['one-at-a-time', 'all']),
    closes: random.chance(0.3),
  });
  return { world, pending, executable };
}

/** Drives one run: between two moments in which the loop waits, one thing happens. */
async function drive(seed: number): Promise<string> {
  const random = createRandom(seed);
  const { world, pending, executable } = createRandomWorld(random);
  const maxTurns = 1 + random.below(12);
  const mayAbort = random.chance(0.5);
  const toolExecution = random.pick(['parallel', 'parallel', 'sequential'] as const);
  let sent = 0;
  const send = () => {
    sent += 1;
    if (random.chance(0.5)) world.steer(`steer ${sent}`);
    else world.followUp(`follow-up ${sent}`);
  };
  if (random.chance(0.3)) send();

  let aborted = false;
  let outcome: RunOutcome | undefined;
  const run = world.run(
    { kind: 'prompt', messages: [userMessage('start')] },
    { maxTurns, toolExecution },
  );
  const watched = run.then((value) => (outcome = value));
  for (;;) {
    await Promise.race([watched, new Promise(setImmediate)]);
    if (outcome !== undefined) break;
    const settleOne = () => pending.splice(random.below(pending.length), 1)[0]?.();
    if (mayAbort && !aborted && random.chance(0.05)) {
      aborted = true;
      // Sometimes an effect has settled by itself when the abort arrives with it.
      if (random.chance(0.5)) settleOne();
      world.abort();
    } else if (random.chance(0.15)) send();
    else {
      if (pending.length === 0) throw new Error('the loop neither ends nor waits for anything');
      // An effect that settled by the abort is settled once more, to no effect.
      settleOne();
    }
  }
  await watched;
  checkOutcome(world, outcome, { aborted, maxTurns });
  const executed = world.executed.map(({ call }) => call.id);
  // An abort keeps calls from being executed; nothing else does.
  const expected = aborted ? executed : [...executable];
  expect(executed.toSorted()).toEqual(expected.toSorted());
  return outcome.kind;
}

function checkOutcome(
  world: FakeWorld,
  outcome: RunOutcome,
  { aborted, maxTurns }: { aborted: boolean; maxTurns: number },
): void {
  const [end] = world.eventsOf('agent_end');
  const turns = world.eventsOf('turn_start').length;
  expect(turns).toBeLessThanOrEqual(maxTurns);
  expect(outcome.kind === 'aborted').toBe(aborted);
  switch (outcome.kind) {
    case 'aborted':
      expect(end?.stopReason).toBe('aborted');
      return;
    case 'failed':
      expect(end).toMatchObject({ stopReason: 'error', errorMessage: outcome.errorMessage });
      return;
    case 'limit':
      expect(end?.stopReason).toBe('limit');
      expect(world.eventsOf('limit_reached')).toMatchObject([{ limit: outcome.limit }]);
      if (outcome.limit === 'maxTurns') expect(turns).toBe(maxTurns);
      return;
    case 'finished': {
      const stoppedByHook = world.log.at(-2)?.startsWith('shouldStopAfterTurn');
      if (stoppedByHook !== true) expect(world.waiting()).toEqual([]);
    }
  }
}

test(`the invariants hold whatever the model, tools, hooks and people do: ${cases} random scripts`, async () => {
  const outcomes = new Set<string>();
  for (let seed = 1; seed <= cases; seed++) {
    try {
      outcomes.add(await drive(seed));
    } catch (error) {
      throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
    }
  }
  // The scripts reach every way a run can end.
  expect([...outcomes].toSorted()).toEqual(['aborted', 'failed', 'finished', 'limit']);
});
