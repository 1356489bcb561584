// `npm run build`: writes `dist`, what the package holds: JavaScript with types and source maps, and the
// bundle of the workflows, so that an installed worker starts without webpack.

import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled, fail, root, run } from './install.mjs';

ensureInstalled();
const dist = join(root, 'dist');
rmSync(dist, { recursive: true, force: true });
const compiler = join('node_modules', 'typescript', 'bin', 'tsc');
const { status } = run(process.execPath, [compiler, '-p', 'tsconfig.build.json']);
if (status !== 0) fail('The sources do not compile; what is wrong is above.');
chmodSync(join(dist, 'cli', 'main.js'), 0o755);

const { bundleWorkflows, prebuiltDirectory } = await import(
  pathToFileURL(join(dist, 'worker', 'bundle.js')).href
);
await bundleWorkflows({ cacheDirectories: [prebuiltDirectory] });
