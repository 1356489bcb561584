// A scripted worker as a process of its own, to be killed. Its one argument is ScriptedWorkerOptions as JSON.

import { startScriptedWorker } from './scripted-worker.js';
import type { ScriptedWorkerOptions } from './scripted-worker.js';

await startScriptedWorker(JSON.parse(process.argv[2] ?? '') as ScriptedWorkerOptions);
console.log('ready');
