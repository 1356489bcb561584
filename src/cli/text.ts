// Text for a terminal: one line, cut to a width, without the control characters that models and tools
// may send.

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** Without control characters other than line feed and tab: nothing in it can steer the terminal. */
export function toPlainText(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '');
}

export function toOneLine(text: string): string {
  return toPlainText(text.replaceAll(/\s+/g, ' ')).trim();
}

/** A text as one word of a shell, to be pasted: ids are made by providers and other people. */
export function toShellWord(text: string): string {
  const plain = toPlainText(text);
  return /^[\w.:@/+-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", `'\\''`)}'`;
}

/** The start of `line` that fits `columns`, with an ellipsis where something was cut. */
export function cutToColumns(line: string, columns: number): string {
  let width = 0;
  let fitting = '';
  for (const character of line) {
    const step = wide.test(character) ? 2 : 1;
    if (width + step > columns) return `${dropLast(fitting, columns)}…`;
    width += step;
    fitting += character;
  }
  return line;
}

/** Makes room for the ellipsis. */
function dropLast(text: string, columns: number): string {
  const characters = Array.from(text);
  while (characters.length > 0 && widthOf(characters.join('')) > columns - 1) characters.pop();
  return characters.join('');
}

export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += wide.test(character) ? 2 : 1;
  return width;
}

/** Rows in aligned columns, each line cut to `columns`. */
export function toTable(rows: readonly (readonly string[])[], columns: number): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, widthOf(cell));
    }
  }
  return rows
    .map((row) => {
      const cells = row.map((cell, index) =>
        index === row.length - 1 ? cell : cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell)),
      );
      return `${cutToColumns(cells.join('  ').trimEnd(), columns)}\n`;
    })
    .join('');
}

/** e.g. `350 ms`, `3 s`, `2 min`. */
export function toDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 120_000) return `${Math.round(milliseconds / 1_000)} s`;
  return `${Math.round(milliseconds / 60_000)} min`;
}
