// Takes out of an error's text whatever looks like a key in a URL or a header, whoever put it there. The
// values that the worker resolved are the redactor's business.

const replacement = '[redacted]';

const patterns: readonly [pattern: RegExp, by: string][] = [
  [/\b(https?:\/\/)[^\s/@"']+@/gi, `$1${replacement}@`],
  [
    /([?&](?:api[-_]?key|key|access[-_]?token|token|secret|sig|signature|password)=)[^&\s"'#]+/gi,
    `$1${replacement}`,
  ],
  [/\b(bearer\s+)[\w.~+/=-]{8,}/gi, `$1${replacement}`],
  [/\bsk-[\w-]{8,}/g, replacement],
];

export function scrubKeys(text: string): string {
  return patterns.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text);
}
