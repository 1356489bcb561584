// How many cases a property runs, from which seed, and how a failure is told: with the seed, the path to the
// shrunk counterexample, and the command that repeats it.
//
// `npm test` takes the same cases every time, so that what fails there was broken by the change at hand;
// `npm run fuzz` takes others every time.

import { writeSync } from 'node:fs';
import { relative } from 'node:path';
import fc from 'fast-check';
import type { IAsyncProperty, IProperty, RunDetails } from 'fast-check';
import { expect, vi } from 'vitest';

const environment = process.env;
const cases = numberOf('HOLDFAST_FUZZ_CASES') ?? 1_000;
const seed = numberOf('HOLDFAST_FUZZ_SEED') ?? 20_260_401;
const path = environment['HOLDFAST_FUZZ_PATH'];
const showsProgress = environment['HOLDFAST_FUZZ_PROGRESS'] !== undefined;

/** Beyond this a property hangs: a thousand cases take a few seconds, more on a busy machine. */
const timeoutMs = 180_000 * Math.max(1, cases / 1_000);
const progressMs = 10_000;

vi.setConfig({ testTimeout: timeoutMs });

type Property<Values extends unknown[]> = IProperty<Values> | IAsyncProperty<Values>;

export interface PropertyOptions {
  /** Of so many cases only one is run: for what is slow. */
  readonly oneIn?: number;
}

/** The body of a test: the property holds for all its cases. */
export function holds<Values extends unknown[]>(
  checked: Property<Values>,
  { oneIn = 1 }: PropertyOptions = {},
): () => Promise<void> {
  return async () => {
    const numRuns = Math.max(1, Math.round(cases / oneIn));
    if (showsProgress) reportProgress(checked, numRuns);
    const details = await fc.check(checked as IAsyncProperty<Values>, {
      numRuns,
      seed,
      ...(path === undefined ? {} : { path }),
    });
    if (details.failed) throw new Error(describeFailure(details), { cause: details.errorInstance });
  };
}

function describeFailure<Values>(details: RunDetails<Values>): string {
  const { currentTestName = '', testPath = '' } = expect.getState();
  const file = relative(process.cwd(), testPath);
  const pattern = currentTestName.replaceAll(' > ', ' ').replace(/[^\w ,:;-]/g, '.');
  const repeat = [
    `npm run fuzz -- ${file} --seed ${details.seed}`,
    ...(details.counterexamplePath === null ? [] : [`--path ${details.counterexamplePath}`]),
    `-t '${pattern}'`,
  ].join(' ');
  return `${fc.defaultReportMessage(details)}\n\nTo repeat it:\n\n  ${repeat}\n`;
}

/** A line now and then, past vitest, which shows a test's output when the test has ended. */
function reportProgress<Values extends unknown[]>(
  checked: Property<Values>,
  numRuns: number,
): void {
  const sentence = expect.getState().currentTestName?.split(' > ').at(-1);
  const began = performance.now();
  let run = 0;
  let told = began;
  const tell = (text: string) => writeSync(2, `${sentence}: ${text}\n`);
  (checked as fc.IPropertyWithHooks<Values>).beforeEach(() => {
    run += 1;
    const now = performance.now();
    if (now - told < progressMs) return;
    told = now;
    tell(`${run} of ${numRuns} cases, ${Math.round((now - began) / 1_000)} s`);
  });
}

function numberOf(name: string): number | undefined {
  const value = environment[name];
  if (value === undefined || value === '') return undefined;
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new Error(`${name} must be a whole number.`);
  return number;
}
