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

function problemOf(error: unknown): string {
  // What the SDK says of a file without a profile is of no use to anyone.
  if (error instanceof TypeError) {
    return 'temporal.toml has no profile; add [profile.default] or remove the file.';
  }
  return reasonOf(error);
}
