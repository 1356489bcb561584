// Takes `<think>…</think>` out of content, for servers without a reasoning parser. Tags may be torn
// between chunks. A closing tag that was never opened ends reasoning as well: some chat templates open the
// tag in the prompt.

const openTag = '<think>';
const closeTag = '</think>';

export interface ThinkPiece {
  readonly text: string;
  readonly thinking: string;
  /** All text so far was reasoning: its opening tag stood in the prompt. */
  readonly reclassify?: true;
}

export interface ThinkTagSplitter {
  push(content: string): readonly ThinkPiece[];
  /** What was held back as the possible beginning of a tag. */
  end(): readonly ThinkPiece[];
}

export function createThinkTagSplitter(): ThinkTagSplitter {
  let held = '';
  let inside = false;
  let seen = false;
  let afterTag = false;

  const piece = (content: string): ThinkPiece => {
    if (inside) return { text: '', thinking: content };
    const text = afterTag ? content.trimStart() : content;
    if (text !== '') afterTag = false;
    return { text, thinking: '' };
  };

  return {
    push(content) {
      const pieces: ThinkPiece[] = [];
      let rest = held + content;
      for (;;) {
        const tag = nextTag(rest, inside, seen);
        if (tag === undefined) break;
        pieces.push(piece(rest.slice(0, tag.at)));
        if (tag.closing && !inside) pieces.push({ text: '', thinking: '', reclassify: true });
        inside = !tag.closing;
        afterTag = tag.closing;
        seen = true;
        rest = rest.slice(tag.at + (tag.closing ? closeTag : openTag).length);
      }
      const safe = rest.length - tornTagLength(rest, inside, seen);
      held = rest.slice(safe);
      if (safe > 0) pieces.push(piece(rest.slice(0, safe)));
      return pieces;
    },
    end() {
      const rest = held;
      held = '';
      return rest === '' ? [] : [piece(rest)];
    },
  };
}

/** Tags that mean something here: a closing one outside only while no tag has been seen. */
function awaitedTags(inside: boolean, seen: boolean): readonly string[] {
  if (inside) return [closeTag];
  return seen ? [openTag] : [openTag, closeTag];
}

function nextTag(
  text: string,
  inside: boolean,
  seen: boolean,
): { readonly at: number; readonly closing: boolean } | undefined {
  const found = awaitedTags(inside, seen)
    .map((tag) => ({ at: text.indexOf(tag), closing: tag === closeTag }))
    .filter(({ at }) => at >= 0);
  return found.toSorted((a, b) => a.at - b.at)[0];
}

/** How much of the end of `text` may be the beginning of a tag. */
function tornTagLength(text: string, inside: boolean, seen: boolean): number {
  for (let length = Math.min(closeTag.length - 1, text.length); length > 0; length--) {
    const end = text.slice(text.length - length);
    if (awaitedTags(inside, seen).some((tag) => tag.startsWith(end))) return length;
  }
  return 0;
}
