// The environment of commands: an allow-list, so that a key in the worker's environment is not handed to
// whatever the model runs.

import type { Redactor } from '../secrets.js';

const alwaysAllowed = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'USER', 'SHELL', 'TZ'] as const;

/**
 * The basic variables, the locale's, and those `further` names. One that holds a secret the worker
 * resolved is left out, whatever its name.
 */
export function toolEnvironment(
  environment: { readonly [name: string]: string | undefined },
  further: readonly string[],
  redactor: Redactor,
): { readonly [name: string]: string } {
  const allowed = new Set<string>([...alwaysAllowed, ...further]);
  const entries = Object.entries(environment).flatMap(([name, value]) => {
    if (value === undefined || !(allowed.has(name) || name.startsWith('LC_'))) return [];
    const secret = redactor.isSecretName(name) || redactor.redact(value) !== value;
    return secret ? [] : [[name, value] as const];
  });
  return { PATH: '/usr/local/bin:/usr/bin:/bin', ...Object.fromEntries(entries) };
}
