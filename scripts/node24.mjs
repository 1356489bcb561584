// `npm run test:node24`: all tests on Node 24, which comes as an npm package. Arguments go to vitest.

import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureInstalled, fail, root, run } from './install.mjs';

const version = '24.22.3';
const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const cache = join(root, 'node_modules', '.cache', 'node', version);
const folder = join(cache, 'node_modules', name, 'bin');
const executable = join(folder, process.platform === 'win32' ? 'node.exe' : 'node');

ensureInstalled();
if (!existsSync(executable)) {
  mkdirSync(cache, { recursive: true });
  const options = ['--ignore-scripts', '--no-save', '--no-audit', '--no-fund'];
  run('npm', ['install', '--prefix', cache, ...options, `${name}@${version}`]);
  if (!existsSync(executable)) fail(`Node ${version} did not come with the npm package ${name}.`);
}
const { status } = run(
  executable,
  [join('scripts', 'test.mjs'), ...process.argv.slice(2)],
  // Tests start processes of their own, some by name.
  { PATH: `${folder}${delimiter}${process.env.PATH}` },
);
process.exit(status ?? 1);
