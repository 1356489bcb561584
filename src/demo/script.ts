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

/** Said where a command that may be run twice was told as unknown. */
const again = 'Nobody knows how that ended. It may be run twice, so I do.';

export interface ScriptedAnswers {
  /** The texts of the answers, in order. */
  readonly texts: readonly string[];
  /** The tools called, in order. */
  readonly calls: readonly string[];
}

/** What has to be said and called, where these turns' commands were told as unknown without meaning to. */
export function scriptedAnswers(repeated: readonly number[] = []): ScriptedAnswers {
  const told = turns.flatMap((turn, index) =>
    repeated.includes(index + 1) ? [turn, { ...turn, text: again }] : [turn],
  );
  return {
    texts: told.map(({ text }) => text),
    calls: told.flatMap(({ calls = [] }) => calls.map(({ name }) => name)),
  };
}

/** The turn whose first model call never comes to an end by itself. */
export const hangingTurn = 2;

/** What a teller of the script may change in it, to have time for what is to happen. */
export interface Staging {
  /** What an answer of this turn waits for in its middle. */
  readonly pause?: (turn: number) => Promise<unknown> | undefined;
  /** The shell command that a turn gives instead. */
  readonly command?: (turn: number, command: string) => string;
}

export function createScript(staging: Staging = {}): ReplyFunction {
  let hasHung = false;
  return (body) => {
    const { number, turn } = nextTurn(body);
    const toolCalls = (turn.calls ?? []).map((call) => staged(call, number, staging));
    const answer = reply.answer({
      text: turn.text,
      toolCalls,
      chunkSize: 16,
      delayMs: 40,
      usage: usageOf(body),
    });
    if (turn.text === again) return answer;
    const begun = answer.steps.slice(0, Math.ceil(answer.steps.length / 4));
    if (number === hangingTurn && !hasHung) {
      hasHung = true;
      return { ...answer, steps: [...begun, step.hang] };
    }
    const pause = staging.pause?.(number);
    if (pause === undefined) return answer;
    const rest = answer.steps.slice(begun.length);
    return { ...answer, steps: [...begun, step.until(pause), ...rest] };
  };
}

function nextTurn(body: ScriptedRequestBody): { readonly number: number; readonly turn: Turn } {
  const answers = body.messages.filter(({ role }) => role === 'assistant');
  const number = answers.filter(({ content }) => textOf(content) !== again).length + 1;
  const turn = turns[number - 1];
  if (turn === undefined) throw new Error(`There is no turn ${number} in the demo's script.`);
  const told = newMessages(body);
  if (turn.expects === undefined || told.includes(turn.expects)) return { number, turn };
  const last = turns[number - 2];
  if (last === undefined || !told.includes('outcome of this call is unknown')) {
    throw new Error(`Turn ${number} was not told "${turn.expects}".`);
  }
  return { number: number - 1, turn: { ...last, text: again } };
}

function staged(call: ScriptedToolCall, turn: number, { command }: Staging): ScriptedToolCall {
  const { arguments: given } = call;
  if (command === undefined || typeof given !== 'object' || given === null) return call;
  const line: unknown = Object.entries(given).find(([name]) => name === 'command')?.[1];
  return typeof line === 'string' ? { ...call, arguments: { command: command(turn, line) } } : call;
}

/** The text of what came after the last answer. */
function newMessages({ messages }: ScriptedRequestBody): string {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages
    .slice(last + 1)
    .map(({ content }) => textOf(content))
    .join('\n');
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block: { readonly text?: string }) => block.text ?? '').join('');
}

/** About four characters a token, as with real models. */
function usageOf(body: ScriptedRequestBody) {
  return { input: Math.round(JSON.stringify(body.messages).length / 4), output: 60 };
}
