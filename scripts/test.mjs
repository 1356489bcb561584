// `npm test`: installs what is missing, then runs all tests against a real Temporal server. Arguments go
// to vitest. The last line says how many tests passed and failed.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled, fail, root, run } from './install.mjs';

ensureInstalled();
// Before the tests, so that no test's time goes into a download.
const executables = spawnSync(
  process.execPath,
  ['--import', 'tsx', 'scripts/temporal-executables.ts'],
  { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' },
);
if (executables.status !== 0) fail("The tests need Temporal's executables.");

const folder = mkdtempSync(join(tmpdir(), 'holdfast-tests-'));
const report = join(folder, 'report.json');
const { status } = run(
  process.execPath,
  [
    join('node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  JSON.parse(executables.stdout),
);
const { passed, failed } = countsOf(report);
rmSync(folder, { recursive: true });
// Whatever else made vitest fail, such as an error outside of any test, is a failure too.
console.log(`${passed} passed, ${status === 0 ? failed : Math.max(failed, 1)} failed`);
process.exit(status ?? 1);

function countsOf(file) {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(file, 'utf8'));
    const brokenFiles = testResults.filter(
      (result) => result.status === 'failed' && result.assertionResults.every(isNoFailure),
    );
    return { passed: numPassedTests, failed: numFailedTests + brokenFiles.length };
  } catch {
    return { passed: 0, failed: 0 };
  }
}

function isNoFailure(result) {
  return result.status !== 'failed';
}
