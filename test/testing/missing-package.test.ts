import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Resolves everything but Temporal's package for tests. */
const hook = `export function resolve(specifier, context, next) {
  if (specifier !== '@temporalio/testing') return next(specifier, context);
  const error = new Error("Cannot find package '@temporalio/testing' imported from here");
  throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' });
}`;
const register = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(hook))});`;

test("without Temporal's package for tests the environment says how to install it, and the rest works", async () => {
  const script = `
    import { createTestEnvironment, reply, startScriptedModel } from './src/testing/index.ts';
    const model = await startScriptedModel([reply.text('Hi')]);
    await model.close();
    await createTestEnvironment().catch((error) => console.log(error.message));
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--import', dataUrl(register), '--input-type=module', '--eval', script],
    { cwd: root },
  );
  expect(stdout).toBe(
    "A test environment needs Temporal's package for tests, which is not installed: npm install --save-dev @temporalio/testing\n",
  );
});

function dataUrl(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`;
}
