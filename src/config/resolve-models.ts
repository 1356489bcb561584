// Models of a config, with addresses, keys' names, quirks and clocks filled in.

import type { ModelDefinition } from '../activities/definitions.js';
import { toMilliseconds } from '../protocol/duration.js';
import { timeouts } from '../protocol/limits.js';
import type { ModelConfig } from './user-config.js';

type Environment = { readonly [name: string]: string | undefined };

const openAiUrl = 'https://api.openai.com/v1';
const defaultModelId = 'gpt-5-mini';

export function resolveModels(
  models: { readonly [name: string]: ModelConfig } | undefined,
  environment: Environment,
  problems: string[],
): { readonly [name: string]: ModelDefinition } {
  const configured =
    models === undefined || Object.keys(models).length === 0
      ? { default: { model: environment['HOLDFAST_MODEL'] || defaultModelId } }
      : models;
  return Object.fromEntries(
    Object.entries(configured).map(([name, model]) => [
      name,
      resolveModel(name, model, environment, problems),
    ]),
  );
}

function resolveModel(
  name: string,
  config: ModelConfig,
  environment: Environment,
  problems: string[],
): ModelDefinition {
  const { baseURL, apiKeyEnv, provider, quirks, clocks, ...rest } = config;
  const address = baseURL ?? addressOf(environment, name, problems);
  const variable = apiKeyEnv ?? (baseURL === undefined ? keyFor(address, environment) : undefined);
  const callMs = toMilliseconds(clocks?.call ?? timeouts.modelCall);
  if (callMs > toMilliseconds(timeouts.modelCall)) {
    problems.push(`models.${name}.clocks.call must be at most ${timeouts.modelCall}.`);
  }
  return {
    ...rest,
    name,
    provider: provider ?? hostOf(address),
    baseURL: address,
    ...(variable === undefined ? {} : { apiKeyEnv: variable }),
    quirks: { ...quirksOf(address), ...quirks },
    clocks: {
      firstTokenMs: toMilliseconds(clocks?.firstToken ?? '120 seconds'),
      silenceMs: toMilliseconds(clocks?.silence ?? '60 seconds'),
      callMs,
    },
  };
}

function addressOf(environment: Environment, model: string, problems: string[]): string {
  const configured = environment['OPENAI_BASE_URL'];
  if (configured === undefined || configured === '') return openAiUrl;
  if (/^https?:\/\//.test(configured) && URL.canParse(configured)) return configured;
  problems.push(
    `models.${model} takes its address from OPENAI_BASE_URL, which is no http or https URL; correct or unset that variable.`,
  );
  return openAiUrl;
}

/** A server that is not OpenAI's may need no key: then it is sent one only if there is one. */
function keyFor(address: string, environment: Environment): string | undefined {
  const variable = 'OPENAI_API_KEY';
  const isOpenAi = hostOf(address) === hostOf(openAiUrl);
  return isOpenAi || (environment[variable] ?? '') !== '' ? variable : undefined;
}

/** OpenAI's own reasoning models refuse `max_tokens`; most compatible servers know nothing else. */
function quirksOf(address: string): ModelDefinition['quirks'] {
  return hostOf(address) === hostOf(openAiUrl) ? { maxTokensField: 'max_completion_tokens' } : {};
}

function hostOf(address: string): string {
  return new URL(address).host;
}
