// The ways in which a secret's value shows up in text: as it is, escaped for JSON or a URL, or inside
// base64. Forms that a program invents (hex, reversed, encrypted, a part of the value) are not known here.

/** One way of writing a secret. */
export interface SecretForm {
  readonly text: string;
  /** A line break may stand between any two characters, as base64 tools wrap their output. */
  readonly wrapped: boolean;
  readonly pattern: RegExp;
  /** At least one of these is in every text that holds the form: cheap to look for. */
  readonly probes: readonly string[];
}

export function secretForms(value: string): readonly SecretForm[] {
  const url = encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\uFFFD'));
  const plain = new Set([
    value,
    JSON.stringify(value).slice(1, -1),
    url,
    url.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
    url.replaceAll('%20', '+'),
  ]);
  return [
    ...[...plain].map((text) => toForm(text, false)),
    ...base64Forms(value).map((text) => toForm(text, true)),
  ];
}

/**
 * What base64 of any text around the value has in common, for the three ways its bytes may be aligned,
 * in both alphabets.
 */
function base64Forms(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const forms = new Set<string>();
  for (const shift of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const from = Math.ceil((8 * shift) / 6);
    const to = Math.floor((8 * (shift + bytes.length)) / 6);
    const common = encoded.slice(from, to);
    forms.add(common);
    forms.add(common.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return [...forms];
}

const probeLength = 30;

function toForm(text: string, wrapped: boolean): SecretForm {
  const between = wrapped ? '(?:\\r?\\n)?' : '';
  const source = wrapped
    ? text.split('').map(escapeForPattern).join(between)
    : escapeForPattern(text);
  return {
    text,
    wrapped,
    pattern: new RegExp(source, 'g'),
    probes: wrapped ? halves(text) : [text],
  };
}

/** Two neighbouring pieces: lines are longer than a piece, so one of the two is never broken. */
function halves(text: string): readonly string[] {
  const length = Math.min(probeLength, Math.floor(text.length / 2));
  return [text.slice(0, length), text.slice(length, 2 * length)];
}

function escapeForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Whether `text` from `start` to its end could be the beginning of the form, without being all of it. */
export function beginsForm(text: string, start: number, form: SecretForm): boolean {
  let matched = 0;
  for (let i = start; i < text.length; i++) {
    if (matched === form.text.length) return false;
    if (text[i] === form.text[matched]) matched += 1;
    else if (!form.wrapped || matched === 0 || (text[i] !== '\n' && text[i] !== '\r')) return false;
  }
  return matched > 0 && matched < form.text.length;
}
