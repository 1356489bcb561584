// The scripted model as a process of its own: where a hundred sessions ask at once, the model must not wait for
// the benchmark, nor the benchmark for the model.

import { startScriptedModel } from '../src/testing/scripted-model.js';
import type { ModelMessage } from './processes.js';
import { turnReply } from './turn-script.js';

const model = await startScriptedModel((body) => turnReply(body));
const tell = (message: ModelMessage) => process.send?.(message);
process.on('message', () => tell({ requests: model.requests.length }));
tell({ baseURL: model.baseURL });
