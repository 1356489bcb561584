// Cuts a result to what history, the model and a payload may carry. What is cut from its text stays in a
// file of the workspace, and the result says where.

import type { ToolResult } from '../../protocol/activities.js';
import { cutUtf8, jsonSize, utf8Length } from '../../protocol/json.js';
import { payloadLimits } from '../../protocol/limits.js';
import type { ImageBlock, TextBlock, UserContent } from '../../protocol/messages.js';
import { textOf } from '../../protocol/messages.js';
import { sizeText } from './tool-arguments.js';

export interface ResultBounds {
  readonly maxResultBytes: number;
  readonly maxImageBytes: number;
  /** Keeps a text that is too long; undefined when it could not be kept. */
  readonly keepFullText: (text: string) => Promise<string | undefined>;
}

export async function boundResult(result: ToolResult, bounds: ResultBounds): Promise<ToolResult> {
  const images = result.content.map((block) => boundImage(block, bounds.maxImageBytes));
  const content = await boundText(images, bounds);
  return fitPayload({ ...result, content, ...boundDetails(result) });
}

function boundImage(block: TextBlock | ImageBlock, maxBytes: number): TextBlock | ImageBlock {
  if (block.type === 'text' || block.data.length <= maxBytes) return block;
  return imageNote(block, `larger than the limit of ${sizeText(maxBytes)}`);
}

function imageNote(image: ImageBlock, reason: string): TextBlock {
  const size = sizeText(image.data.length);
  return {
    type: 'text',
    text: `[An image was left out: ${image.mimeType}, ${size} in base64, ${reason}.]`,
  };
}

/** Text in several blocks is joined where it must be cut; images keep their order behind it. */
async function boundText(content: UserContent, bounds: ResultBounds): Promise<UserContent> {
  const total = content.reduce(
    (bytes, block) => bytes + (block.type === 'text' ? utf8Length(block.text) : 0),
    0,
  );
  if (total <= bounds.maxResultBytes) return content;
  const text = textOf(content);
  const file = await bounds.keepFullText(text);
  const cut: TextBlock = { type: 'text', text: headAndTail(text, bounds.maxResultBytes, file) };
  return [cut, ...content.filter((block) => block.type === 'image')];
}

/** Room that the line between head and tail takes. */
const noteBytes = 200;

function headAndTail(text: string, maxBytes: number, file: string | undefined): string {
  const room = Math.max(maxBytes - noteBytes, Math.floor(maxBytes / 2));
  const head = cutUtf8(text, Math.floor(room * 0.4));
  const tail = cutUtf8(text, room - utf8Length(head), true);
  const missing = utf8Length(text) - utf8Length(head) - utf8Length(tail);
  const where = file === undefined ? '' : `; the full text is in ${file}`;
  return `${head}\n[… ${sizeText(missing)} left out${where} …]\n${tail}`;
}

function boundDetails({ details }: ToolResult): Pick<ToolResult, 'details'> {
  if (details === undefined) return {};
  const size = jsonSize(details);
  if (size <= payloadLimits.maxDetailsBytes) return { details };
  return { details: { omitted: `Details of ${sizeText(size)} were left out.` } };
}

/**
 * The last bound: the whole, as JSON. Images go first, the last one before the others; then text is
 * halved, as control characters take six times their size in JSON.
 */
function fitPayload(result: ToolResult): ToolResult {
  let fitted = result;
  while (jsonSize(fitted) > payloadLimits.maxPayloadBytes) {
    const last = fitted.content.findLastIndex((block) => block.type === 'image');
    const image = fitted.content[last];
    if (image?.type === 'image') {
      const note = imageNote(image, 'as the result would be too large with it');
      fitted = { ...fitted, content: fitted.content.with(last, note) };
      continue;
    }
    const text = textOf(fitted.content);
    const content = headAndTail(text, Math.floor(utf8Length(text) / 2), undefined);
    fitted = { ...fitted, content: [{ type: 'text', text: content }] };
  }
  return fitted;
}
