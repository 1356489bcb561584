/** How the user calls this command, so that what is suggested can be pasted. */
export function commandName(env: NodeJS.ProcessEnv = process.env): string {
  return env['npm_lifecycle_event'] === 'holdfast' ? 'npm run -s holdfast --' : 'holdfast';
}
