// What a failed command says: one sentence. A bug of ours shows its stack with HOLDFAST_DEBUG.

import { reasonOf } from '../client/index.js';
import { toOneLine } from './text.js';

export function toErrorSentence(error: unknown, env: NodeJS.ProcessEnv = process.env): string {
  if ((env['HOLDFAST_DEBUG'] ?? '') !== '' && error instanceof Error) {
    return error.stack ?? error.message;
  }
  const sentence = toOneLine(reasonOf(error));
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}
