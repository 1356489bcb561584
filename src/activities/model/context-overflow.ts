// How providers say that a conversation is longer than the model's context. Data: a further provider is
// a further row.

/** What is known of a provider's error. */
export interface ProviderError {
  /** Absent: it came inside a stream, or there was no answer. */
  readonly status?: number;
  readonly code?: string;
  readonly type?: string;
  /** The message, and what an upstream provider said where a router hands that on. */
  readonly text: string;
  /** The provider's name or host. */
  readonly provider: string;
}

const overflowCodes = ['context_length_exceeded', 'model_context_window_exceeded'];

const overflowWordings: readonly RegExp[] = [
  /exceeds the (model'?s )?context window/i, // OpenAI
  /prompt is too long/i, // Anthropic
  /input is too long for requested model/i, // Bedrock
  /input token count.*exceeds the maximum/i, // Gemini
  /maximum prompt length is [\d,]+/i, // xAI
  /reduce the length of the messages/i, // Groq
  /maximum context length is [\d,]+ tokens/i, // OpenAI, OpenRouter, vLLM
  /exceeds (the )?(model'?s )?maximum context length/i, // LiteLLM
  /exceeds the maximum allowed input length of [\d,]+ tokens/i, // OpenRouter
  /longer than the model'?s context length/i, // Together, SGLang
  /prompt token count of [\d,]+ exceeds the limit of [\d,]+/i, // GitHub Copilot
  /exceeds the available context size/i, // llama.cpp
  /greater than the context length/i, // LM Studio
  /too large for model with [\d,]+ maximum context length/i, // Mistral
  /exceeded model token limit/i, // Kimi
  /context window exceeds limit/i, // MiniMax
  /prompt too long; exceeded (max )?context length/i, // Ollama
  /context[_ ]length[_ ]exceeded/i,
  /model_context_window_exceeded/i, // z.ai
];

/** Throttling speaks of tokens too: these wordings are never an overflow. */
const throttlingWordings: readonly RegExp[] = [
  /\bper[ -](second|minute|hour|day|month)\b/i,
  /\b(TPM|TPD|RPM|RPD)\b/,
  /rate[ _-]?limit/i,
  /too many requests/i,
  /throttl/i,
];

/** Statuses under which a wording may say overflow; inside a stream there is none. */
const overflowStatuses = [400, 413, 422, 500, 503];

/** Providers whose whole overflow message is a status with an empty body. */
const silentProviders: readonly { readonly provider: RegExp; readonly statuses: number[] }[] = [
  { provider: /cerebras/i, statuses: [400, 413] },
];

/**
 * Whether the provider refused the conversation for its length. An empty 400 or 413 says so only where
 * the provider is known to mean it.
 */
export function isContextOverflow({ status, code, type, text, provider }: ProviderError): boolean {
  if (status !== undefined && !overflowStatuses.includes(status)) return false;
  if ([code, type].some((value) => value !== undefined && overflowCodes.includes(value))) {
    return true;
  }
  if (text === '') {
    return silentProviders.some(
      (silent) =>
        silent.provider.test(provider) && status !== undefined && silent.statuses.includes(status),
    );
  }
  if (throttlingWordings.some((wording) => wording.test(text))) return false;
  return overflowWordings.some((wording) => wording.test(text));
}
