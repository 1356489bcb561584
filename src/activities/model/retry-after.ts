// When a provider wants to be asked again.

/** The part of `Headers` that is read. */
export interface HeaderReader {
  get(name: string): string | null;
}

/**
 * Milliseconds the provider asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date.
 * Undefined when there is none, it cannot be read, or it lies in the past: then exponential back-off.
 */
export function retryAfterMs(headers: HeaderReader, now = Date.now()): number | undefined {
  const milliseconds = positive(toNumber(headers.get('retry-after-ms')));
  if (milliseconds !== undefined) return milliseconds;
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const seconds = toNumber(value);
  if (seconds !== undefined) return positive(seconds * 1000);
  // `Date.parse` takes almost anything with a digit in it for a date; an HTTP date names its day.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(value.trim())) return undefined;
  return positive(Date.parse(value) - now);
}

function toNumber(text: string | null): number | undefined {
  if (text === null || !/^\s*-?\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}

function positive(value: number | undefined): number | undefined {
  if (value === undefined || !Number.isFinite(value) || value <= 0) return undefined;
  return Math.ceil(value);
}
