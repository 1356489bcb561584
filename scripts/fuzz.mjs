// `npm run fuzz`: the property tests with many cases, one file after the other.
//
//   npm run fuzz                                  50,000 cases of each property, a new seed
//   npm run fuzz -- test/fuzz/loop.test.ts        of one file; what is no option goes to vitest
//   npm run fuzz -- --cases 5000 --seed 7         fewer cases, the same seed as before
//
// A property that fails prints the command that repeats its failure.

import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled, fail, run } from './install.mjs';

ensureInstalled();
const { values, tokens } = parseArgs({
  options: { cases: { type: 'string' }, seed: { type: 'string' }, path: { type: 'string' } },
  strict: false,
  tokens: true,
});
const own = tokens.filter((token) => token.kind === 'option' && token.name in values);
const ours = new Set(
  own
    .filter(({ name }) => ['cases', 'seed', 'path'].includes(name))
    .flatMap(({ index, inlineValue }) => (inlineValue ? [index] : [index, index + 1])),
);
const rest = process.argv.slice(2).filter((_, index) => !ours.has(index));
const cases = wholeNumber('cases', '50000');
const seed = wholeNumber('seed', String(randomInt(2 ** 31)));

const files = rest.some((argument) => argument.startsWith('test/')) ? [] : ['test/fuzz/'];
console.error(`${cases} cases of each property, seed ${seed}.`);
const { status } = run(
  process.execPath,
  [
    join('node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--project',
    'unit',
    '--no-file-parallelism',
    ...files,
    ...rest,
  ],
  {
    HOLDFAST_FUZZ_CASES: cases,
    HOLDFAST_FUZZ_SEED: seed,
    ...(values.path === undefined ? {} : { HOLDFAST_FUZZ_PATH: values.path }),
    HOLDFAST_FUZZ_PROGRESS: '1',
  },
);
process.exit(status ?? 1);

function wholeNumber(name, usual) {
  const value = values[name] ?? usual;
  if (typeof value !== 'string' || !/^-?\d+$/.test(value)) fail(`--${name} takes a whole number.`);
  return value;
}
