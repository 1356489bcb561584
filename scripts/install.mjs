// Installs the packages of package-lock.json where they are missing or others than it says. Runs before
// anything is installed: nothing but what Node has.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/** Ends the process with a sentence when it cannot be done. */
export function ensureInstalled() {
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`Holdfast needs Node 20.19 or newer; this is ${process.versions.node}.`);
  }
  const reason = whatIsMissing();
  if (reason === undefined) return;
  // Standard output is the command's.
  console.error(`Installing packages (${reason}) …`);
  const started = Date.now();
  // No package of ours needs its install script: they bring binaries for the usual platforms.
  const { status } = run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
  if (status !== 0) fail('npm ci failed; its messages are above.');
  console.error(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

/** Runs a command in the checkout, with this terminal's input and output. */
export function run(command, args, environment = {}) {
  return spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...environment },
    // npm is a .cmd file on Windows, which only a shell can start.
    shell: process.platform === 'win32',
  });
}

export function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Compares what npm recorded when it installed with what the lock file wants. */
function whatIsMissing() {
  const wanted = packagesOf('package-lock.json');
  let installed;
  try {
    installed = packagesOf('node_modules/.package-lock.json');
  } catch {
    return 'none is there yet';
  }
  for (const [path, { version, optional, peer, link }] of Object.entries(wanted)) {
    // The checkout itself; and what npm leaves out, as it is for other platforms.
    if (path === '' || link || optional || peer) continue;
    if (installed[path]?.version !== version)
      return `${path.replace(/^.*node_modules\//, '')} ${version} is missing`;
  }
  return undefined;
}

function packagesOf(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
}
