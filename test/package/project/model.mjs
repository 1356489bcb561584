// A scripted model as a process: asks for a tool, then repeats its result. Prints its address.

import { reply, startScriptedModel } from 'holdfast/testing';

const model = await startScriptedModel(({ messages }) => {
  const last = messages.at(-1);
  return last?.role === 'tool'
    ? reply.text(`Found: ${String(last?.content)}`)
    : reply.toolCalls([{ name: 'search_notes', arguments: { word: 'tide' } }]);
});
console.log(model.baseURL);
