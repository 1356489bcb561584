// What the scripted model of the demo says. It answers to what it is sent: its turn is the number of its
// earlier answers, and it refuses a conversation that lacks what its answer builds on.

import { reply, step } from '../testing/scripted-model.js';
import type {
  ReplyFunction,
  ScriptedRequestBody,
  ScriptedToolCall,
} from '../testing/scripted-model.js';

export const prompt =
  'The tests of this little project fail. Find out why, mend the code and run `node --test` until they pass. ' +
  'Then run `node add-note.js "<what changed>"`, which writes a note into the changelog and announces it to ' +
  'subscribers; that takes a while and must not be done twice.';

export const steered = 'Please add a test for exactly one hour as well.';

const note = 'Durations of an hour and more show hours';

interface Turn {
  /** What the last message must hold, else the model was not told what it had to be told. */
  readonly expects?: string;
  readonly text: string;
  readonly calls?: readonly ScriptedToolCall[];
}

const turns: readonly Turn[] = [
  {
    text: 'First I look at what there is.',
    calls: [
      { name: 'bash', arguments: { command: 'ls && cat package.json' } },
      { name: 'read', arguments: { path: 'duration.js' } },
      { name: 'read', arguments: { path: 'duration.test.js' } },
    ],
  },
  {
    expects: '1h 2m 5s',
    text:
      '`formatDuration` knows minutes and seconds only, while a test asks for hours. ' +
      'Before I change anything I run the tests, to see that this is all that fails.',
    calls: [{ name: 'bash', arguments: { command: 'node --test' } }],
  },
  {
    expects: steered,
    text: 'As expected, one test fails. I teach it hours, and add the test for exactly one hour.',
    calls: [
      {
        name: 'edit',
        arguments: {
          path: 'duration.js',
          oldText:
            '  const minutes = Math.floor(seconds / 60);\n' +
            '  const rest = seconds % 60;\n' +
            '  return minutes === 0 ? `${rest}s` : `${minutes}m ${rest}s`;\n',
          newText:
            '  const hours = Math.floor(seconds / 3600);\n' +
            '  const minutes = Math.floor((seconds % 3600) / 60);\n' +
            '  const rest = seconds % 60;\n' +
            '  if (hours > 0) return `${hours}h ${minutes}m ${rest}s`;\n' +
            '  return minutes === 0 ? `${rest}s` : `${minutes}m ${rest}s`;\n',
        },
      },
      {
        name: 'edit',
        arguments: {
          path: 'duration.test.js',
          oldText: "test('hours, minutes and seconds'",
          newText:
            "test('exactly one hour', () => assert.equal(formatDuration(3600), '1h 0m 0s'));\n\n" +
            "test('hours, minutes and seconds'",
        },
      },
    ],
  },
  {
    text: 'Now the tests again.',
    calls: [{ name: 'bash', arguments: { command: 'node --test' } }],
  },
  {
    expects: 'pass 4',
    text: 'All four pass. Now the note.',
    calls: [{ name: 'bash', arguments: { command: `node add-note.js "${note}"` } }],
  },
  {
    expects: 'unknown',
    text: 'Nobody knows how far that command came, so I look before I do anything twice.',
    calls: [{ name: 'bash', arguments: { command: 'cat CHANGELOG.md' } }],
  },
  {
    expects: note,
    text:
      'Done. `formatDuration` shows hours now, there is a test for exactly one hour, and all four tests pass. ' +
      'The note is in the changelog once. Announcing it was interrupted; I did not repeat it, because some ' +
      'subscribers have heard of it already.',
  },
];

/** The texts of the answers, in order. */
export const scriptedTexts: readonly string[] = turns.map(({ text }) => text);

/** The tools called, in order. */
export const scriptedCalls: readonly string[] = turns.flatMap(({ calls = [] }) =>
  calls.map(({ name }) => name),
);

/** The turn whose first model call never comes to an end by itself. */
export const hangingTurn = 2;

export function createScript(): ReplyFunction {
  let hasHung = false;
  return (body) => {
    const number = body.messages.filter(({ role }) => role === 'assistant').length + 1;
    const turn = turns[number - 1];
    if (turn === undefined) throw new Error(`There is no turn ${number} in the demo's script.`);
    if (turn.expects !== undefined && !newMessages(body).includes(turn.expects)) {
      throw new Error(`Turn ${number} was not told "${turn.expects}".`);
    }
    const { text, calls: toolCalls = [] } = turn;
    const answer = reply.answer({
      text,
      toolCalls,
      chunkSize: 16,
      delayMs: 40,
      usage: usageOf(body),
    });
    if (number !== hangingTurn || hasHung) return answer;
    hasHung = true;
    const half = answer.steps.length / 4;
    return { ...answer, steps: [...answer.steps.slice(0, Math.ceil(half)), step.hang] };
  };
}

/** The text of what came after the last answer. */
function newMessages({ messages }: ScriptedRequestBody): string {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages
    .slice(last + 1)
    .map(({ content }) => (typeof content === 'string' ? content : textOf(content)))
    .join('\n');
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content.map((block: { readonly text?: string }) => block.text ?? '').join('');
}

/** About four characters a token, as with real models. */
function usageOf(body: ScriptedRequestBody) {
  return { input: Math.round(JSON.stringify(body.messages).length / 4), output: 60 };
}
