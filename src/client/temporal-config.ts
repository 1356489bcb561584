// Temporal's own configuration, read by the SDK; its errors made into sentences.

import { AgentClientError, reasonOf } from './errors.js';

/** @throws AgentClientError when `temporal.toml` or a variable cannot be read */
export function readTemporalConfig<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new AgentClientError(`Temporal's configuration cannot be read: ${problemOf(error)}`, {
      cause: error,
    });
  }
}

/** The variables that say something: an empty one counts as not set, as compose files and CI leave it. */
export function setVariables(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, value]],
    ),
  );
}

function problemOf(error: unknown): string {
  // What the SDK says of a file without a profile is of no use to anyone.
  if (error instanceof TypeError) {
    return 'temporal.toml has no profile; add [profile.default] or remove the file.';
  }
  return reasonOf(error);
}
