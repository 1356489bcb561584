// The secrets of one model call, resolved anew for each call.

import type { ModelDefinition } from '../definitions.js';
import type { Redactor } from '../secrets.js';
import type { Credentials } from './chat-stream.js';
import { ModelProblem } from './model-problem.js';

/**
 * `askedKey` is what the `getApiKey` hook said; without it the key comes from the environment. Every value
 * is registered with the redactor before it is used.
 * @throws ModelProblem naming the variable that this worker lacks
 */
export function toCredentials(
  model: ModelDefinition,
  askedKey: string | undefined,
  environment: (name: string) => string | undefined,
  redactor: Redactor,
): Credentials {
  const read = (name: string, purpose: string) => {
    const value = environment(name)?.trim();
    if (value === undefined || value === '') {
      throw new ModelProblem(
        // Retried: another worker may have it.
        'unavailable',
        `This worker has no environment variable ${name}, which holds ${purpose} of the model "${model.name}".`,
      );
    }
    redactor.register(name, value);
    return value;
  };
  const headers = Object.entries(model.headersEnv ?? {}).map(
    ([header, name]) => [header, read(name, `the header ${header}`)] as const,
  );
  const apiKey = askedKey?.trim();
  if (apiKey !== undefined && apiKey !== '') {
    redactor.register('getApiKey', apiKey);
    return { apiKey, headers: Object.fromEntries(headers) };
  }
  return {
    ...(model.apiKeyEnv === undefined ? {} : { apiKey: read(model.apiKeyEnv, 'the key') }),
    headers: Object.fromEntries(headers),
  };
}
