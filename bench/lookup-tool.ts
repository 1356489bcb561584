// The tool of the measures that need none in particular: a text of so many bytes, different for each
// seed, at once. Holdfast and the bare loop run the same function.

import type { ToolDefinition } from '../src/activities/definitions.js';
import type { JsonObject } from '../src/protocol/json.js';

const words = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'heath'];

export function lookUp({ bytes, seed }: JsonObject): string {
  const size = typeof bytes === 'number' ? bytes : 100;
  let state = typeof seed === 'number' ? seed + 1 : 1;
  let text = '';
  while (text.length < size) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += `${words[state >>> 29]} ${state.toString(36)} `;
  }
  return text.slice(0, size);
}

export const lookUpTool: ToolDefinition = {
  name: 'look_up',
  description: 'Looks a text up.',
  parameters: {
    type: 'object',
    properties: { bytes: { type: 'integer' }, seed: { type: 'integer' } },
    required: ['bytes', 'seed'],
  },
  effects: 'read-only',
  execute: lookUp,
};
