// Replacing one passage of a text by another, exactly: pure functions, no files.
//
// Line breaks are the one thing that need not match: a model sees and writes `\n` also where the file has
// `\r\n`. What is put in takes the line breaks of the place it goes to; nothing else changes.

export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

/** A part of the old text and what stands there now. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export type EditOutcome =
  | {
      readonly kind: 'edited';
      readonly text: string;
      readonly replacements: readonly Replacement[];
    }
  /** `lines`: numbers, from 1, of the first lines where the passage begins. */
  | { readonly kind: 'ambiguous'; readonly count: number; readonly lines: readonly number[] }
  | { readonly kind: 'absent' };

/** Places of an ambiguous passage that are told. */
const shownPlaces = 10;

export function editText(text: string, edit: TextEdit): EditOutcome {
  const view = toView(text);
  const wanted = withoutReturns(edit.oldText);
  const places = placesOf(view.text, wanted, edit.replaceAll);
  if (places.length === 0) return { kind: 'absent' };
  if (places.length > 1 && !edit.replaceAll) {
    const lines = places.slice(0, shownPlaces).map((place) => lineAt(view.text, place));
    return { kind: 'ambiguous', count: places.length, lines };
  }
  const usual = usualBreak(text);
  const replacements = places.map((place) => {
    const start = view.toOriginal(place);
    const end = view.toOriginal(place + wanted.length);
    return { start, end, text: withBreaks(edit, text.slice(start, end), usual) };
  });
  return { kind: 'edited', text: applyReplacements(text, replacements), replacements };
}

/** Where `wanted` begins. Overlapping places count as several, unless all are to be replaced. */
function placesOf(text: string, wanted: string, withoutOverlaps: boolean): readonly number[] {
  const places: number[] = [];
  const step = withoutOverlaps ? wanted.length : 1;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + step))
    places.push(at);
  return places;
}

function applyReplacements(text: string, replacements: readonly Replacement[]): string {
  let result = '';
  let position = 0;
  for (const { start, end, text: replacement } of replacements) {
    result += text.slice(position, start) + replacement;
    position = end;
  }
  return result + text.slice(position);
}

/** The line, from 1, that holds the character at `index`. */
export function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1))
    line += 1;
  return line;
}

function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** The text with `\n` only, and the way back from its positions. */
function toView(text: string): { text: string; toOriginal: (position: number) => number } {
  if (!text.includes('\r\n')) return { text, toOriginal: (position) => position };
  // Positions, in the view, of the line breaks that lost their `\r`; ascending.
  const breaks: number[] = [];
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) {
    breaks.push(at - breaks.length);
  }
  const countBefore = (position: number) => {
    let low = 0;
    let high = breaks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((breaks[middle] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return { text: withoutReturns(text), toOriginal: (position) => position + countBefore(position) };
}

/** The line break most lines of the text have. */
function usualBreak(text: string): '\n' | '\r\n' {
  const all = text.split('\n').length - 1;
  const withReturn = text.split('\r\n').length - 1;
  return withReturn * 2 > all ? '\r\n' : '\n';
}

function withBreaks(edit: TextEdit, replaced: string, usual: '\n' | '\r\n'): string {
  const inPlace = replaced.includes('\r\n') ? '\r\n' : replaced.includes('\n') ? '\n' : usual;
  if (inPlace === '\r\n') return withoutReturns(edit.newText).replaceAll('\n', '\r\n');
  // `\r\n` put into a text with `\n` is meant, unless the passage was given with `\r\n` as well.
  return edit.oldText.includes('\r\n') ? withoutReturns(edit.newText) : edit.newText;
}
