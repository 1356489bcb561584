// Adds a note to the changelog and announces it to subscribers, one a second: something that takes a
// while and must not happen twice. The demo kills the worker in the middle of it.

import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [note] = process.argv.slice(2);
if (note === undefined) {
  console.error('usage: node add-note.js "<note>"');
  process.exit(1);
}
appendFileSync('CHANGELOG.md', `- ${note}\n`);
console.log(`note added by process ${process.pid}`);
for (let subscriber = 1; subscriber <= 20; subscriber++) {
  await sleep(1000);
  console.log(`announced to subscriber ${subscriber} of 20`);
}
