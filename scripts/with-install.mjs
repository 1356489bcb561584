// Makes sure that everything is installed, then runs what was asked for:
//
//   node scripts/with-install.mjs              installs and nothing else
//   node scripts/with-install.mjs demo …       runs scripts/demo/main.ts with the arguments that follow
//   node scripts/with-install.mjs <script> …   likewise for scripts/<script>.ts
//   node scripts/with-install.mjs holdfast …   runs the command line

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, fail, root } from './install.mjs';

const [name, ...args] = process.argv.slice(2);
ensureInstalled();
if (name !== undefined) {
  const candidates =
    name === 'holdfast'
      ? [join('src', 'cli', 'main.ts')]
      : [join('scripts', name, 'main.ts'), join('scripts', `${name}.ts`)];
  const script = candidates.find((path) => existsSync(join(root, path)));
  if (script === undefined) fail(`There is no ${candidates.join(' and no ')}.`);
  runToItsEnd(script);
}

/** Whoever stops this process, or npm above it, stops the script, and waits until it has cleaned up. */
function runToItsEnd(script) {
  const child = spawn(process.execPath, ['--import', 'tsx', script, ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // A terminal sends Ctrl-C to all of us: passed on as well, it would count as the second one.
  process.on('SIGINT', () => {});
  // npm passes SIGTERM to the shell between us, which dies of it and tells nobody.
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    child.kill('SIGTERM');
  }, 500);
  child.on('exit', (code) => process.exit(code ?? 1));
}
