// How the user calls this command, so that what is suggested can be pasted.

/** Whether this is the package of someone's project, and no checkout. */
const isInstalled = import.meta.url.includes('/node_modules/');

export function commandName(
  env: NodeJS.ProcessEnv = process.env,
  installed: boolean = isInstalled,
): string {
  const script = env['npm_lifecycle_event'] ?? '';
  // What npm runs, by `npx holdfast` or in a script, is in a folder that is not on the user's PATH.
  if (installed) return script === '' ? 'holdfast' : 'npx holdfast';
  return script === 'holdfast' ? 'npm run -s holdfast --' : 'holdfast';
}
