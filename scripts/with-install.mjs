// Makes sure that everything is installed, then runs what was asked for:
//
//   node scripts/with-install.mjs              installs and nothing else
//   node scripts/with-install.mjs demo …       runs scripts/demo/main.ts with the arguments that follow
//   node scripts/with-install.mjs <script> …   likewise for scripts/<script>.ts

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, fail, root, run } from './install.mjs';

const [name, ...args] = process.argv.slice(2);
ensureInstalled();
if (name !== undefined) {
  const candidates = [join('scripts', name, 'main.ts'), join('scripts', `${name}.ts`)];
  const script = candidates.find((path) => existsSync(join(root, path)));
  if (script === undefined) fail(`There is no ${candidates.join(' and no ')}.`);
  const { status } = run(process.execPath, ['--import', 'tsx', script, ...args]);
  process.exit(status ?? 1);
}
