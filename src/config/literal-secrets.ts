// Finds secrets that were written into a config. They are refused: a config is shared and committed, and
// what a worker does not know by name it cannot keep out of history.

import { isJsonObject } from '../protocol/json.js';
import { pathText } from './config-error.js';
import { looksLikeKey } from './schema.js';

const secretField =
  /^(api_?key|(access_?|auth_?|bearer_?)?token|secret|client_?secret|password|authorization|headers)$/i;

/** A sentence for each; what was found is not repeated. */
export function literalSecrets(config: unknown): readonly string[] {
  const models = isJsonObject(config) ? config['models'] : undefined;
  return search(models, ['models']);
}

function search(value: unknown, path: readonly PropertyKey[]): readonly string[] {
  if (typeof value === 'string') {
    return looksLikeKey(value)
      ? [
          `${pathText(path)} looks like a secret: put it into an environment variable and name that in apiKeyEnv or headersEnv.`,
        ]
      : [];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => search(item, [...path, index]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, field]) =>
    secretField.test(key) && (typeof field === 'string' || isJsonObject(field))
      ? [
          `${pathText([...path, key])} is not allowed, as secrets are never in the config: put the value into an environment variable and name that in ${key.toLowerCase() === 'headers' ? 'headersEnv' : 'apiKeyEnv'}.`,
        ]
      : search(field, [...path, key]),
  );
}
