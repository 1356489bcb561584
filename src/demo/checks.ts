// What the demo claims at its end, each claim checked against what the server, the files and the processes
// say. Pure: takes facts, gives rows.

import { findViolations } from '../testing/invariants.js';
import type { ReportedEvent } from '../protocol/events.js';
import { textOf, toolCallsOf } from '../protocol/messages.js';
import type { AssistantMessage, Message, ToolResultMessage } from '../protocol/messages.js';
import type { ProjectState } from './sample-project.js';
import type { RecordedActivity } from './recorded-activities.js';

export interface DemoFacts {
  readonly events: readonly ReportedEvent[];
  readonly messages: readonly Message[];
  readonly prompt: string;
  /** Absent: the agent had ended before there was a moment to steer it. */
  readonly steered?: string;
  /** What the follower showed of each answer. */
  readonly shown: readonly string[];
  readonly project: ProjectState;
  readonly activities: readonly RecordedActivity[];
  readonly history: { readonly events: number; readonly bytes: number };
  /** Absent: the model was never caught in a call. */
  readonly modelKill?: { readonly at: number };
  /** Absent: no command was caught while it ran. */
  readonly toolKill?: {
    readonly at: number;
    readonly toolCallId: string;
    /** Whether the command's process still lives. */
    readonly alive: boolean;
  };
  /** With the scripted model: what had to be said and called, and what went wrong with it. */
  readonly script?: {
    readonly texts: readonly string[];
    readonly calls: readonly string[];
    readonly faults: readonly string[];
  };
}

export interface Check {
  readonly claim: string;
  /** `unseen`: it did not come to what the claim is about, which only a scripted model guarantees. */
  readonly verdict: 'holds' | 'broken' | 'unseen';
  readonly figure: string;
}

export function checkFacts(facts: DemoFacts): readonly Check[] {
  return [
    transcriptCheck(facts),
    resultsCheck(facts),
    steeringCheck(facts),
    filesCheck(facts),
    modelKillCheck(facts),
    toolKillCheck(facts),
    onceCheck(facts),
    processCheck(facts),
    liveTextCheck(facts),
    historyCheck(facts),
  ];
}

const check = (claim: string, holds: boolean, figure: string): Check => ({
  claim,
  verdict: holds ? 'holds' : 'broken',
  figure,
});

const answersOf = ({ messages }: DemoFacts): readonly AssistantMessage[] =>
  messages.filter((message) => message.role === 'assistant');

const resultsOf = ({ messages }: DemoFacts): readonly ToolResultMessage[] =>
  messages.filter((message) => message.role === 'toolResult');

function transcriptCheck(facts: DemoFacts): Check {
  const { events, messages, prompt, steered, script } = facts;
  const inputs = [prompt, ...(steered === undefined ? [] : [steered])].map((message) => ({
    message,
  }));
  const problems = [...findViolations({ events, messages, inputs, queued: [] })];
  const answers = answersOf(facts);
  if (script !== undefined) {
    problems.push(...script.faults);
    const texts = answers.map(({ content }) => textOf(content));
    const calls = answers.flatMap(toolCallsOf).map(({ name }) => name);
    if (!isSame(texts, script.texts)) problems.push('the answers are not those of the script');
    if (!isSame(calls, script.calls)) problems.push('the calls are not those of the script');
  }
  if (answers.at(-1)?.stopReason !== 'stop') problems.push('the last message is no answer');
  const figure = `${messages.length} messages, ${answers.length} turns`;
  return check('Transcript complete, in order', problems.length === 0, figureOr(problems, figure));
}

function resultsCheck(facts: DemoFacts): Check {
  const calls = answersOf(facts).flatMap(toolCallsOf);
  const results = resultsOf(facts);
  const odd = calls.filter(({ id }) => results.filter((r) => r.toolCallId === id).length !== 1);
  const figure = `${calls.length} calls, ${results.length} results`;
  const holds = odd.length === 0 && calls.length === results.length && calls.length > 0;
  return check('Each tool call has exactly one result', holds, figure);
}

function steeringCheck({ messages, steered }: DemoFacts): Check {
  const claim = 'Steered message in the transcript once';
  if (steered === undefined) return unseen(claim);
  const places = messages.flatMap((message, index) =>
    message.role === 'user' && textOf(message.content) === steered ? [index] : [],
  );
  const figure = places.length === 1 ? `once, as message ${places[0]}` : `${places.length} times`;
  return check(claim, places.length === 1, figure);
}

function filesCheck({ project }: DemoFacts): Check {
  const holds = project.testsPass && project.changed.includes('duration.js');
  const tests = project.testsPass ? 'node --test passes' : 'node --test fails';
  const figure = `${project.changed.join(', ') || 'no file'} changed; ${tests}`;
  return check('The files are really edited', holds, figure);
}

function modelKillCheck({ modelKill, activities }: DemoFacts): Check {
  const claim = 'Killed in a model call: the call was made again';
  if (modelKill === undefined) return unseen(claim);
  const again = activities.find(
    ({ type, attempt, startedAt }) =>
      type === 'completeChat' && attempt > 1 && startedAt > modelKill.at,
  );
  if (again === undefined) return check(claim, false, 'no second attempt is recorded');
  return check(claim, true, `attempt ${again.attempt}, ${seconds(again.startedAt - modelKill.at)}`);
}

function toolKillCheck(facts: DemoFacts): Check {
  const claim = 'Killed in a tool call: told as unknown, run goes on';
  const { toolKill, activities } = facts;
  if (toolKill === undefined) return unseen(claim);
  const result = resultsOf(facts).find(({ toolCallId }) => toolCallId === toolKill.toolCallId);
  const text = result === undefined ? '' : textOf(result.content);
  const next = activities.find(
    ({ type, startedAt }) => type === 'completeChat' && startedAt > toolKill.at,
  );
  if (result?.isError !== true || !/outcome of this call is unknown/.test(text)) {
    return check(claim, false, `the result says: ${text.slice(0, 60)}`);
  }
  if (next === undefined) return check(claim, false, 'no model call came after it');
  return check(claim, true, `next model call after ${seconds(next.startedAt - toolKill.at)}`);
}

function onceCheck(facts: DemoFacts): Check {
  const claim = 'The killed command ran once, not again';
  if (facts.toolKill === undefined) return unseen(claim);
  const asked = answersOf(facts)
    .flatMap(toolCallsOf)
    .filter((call) => JSON.stringify(call.arguments).includes('node add-note.js')).length;
  const attempts = facts.activities.filter(
    ({ type, summary }) => type === 'callTool' && summary.startsWith('bash'),
  );
  const { length } = facts.project.notes;
  const holds = length === asked && attempts.every(({ attempt }) => attempt === 1);
  return check(claim, holds, `asked for ${times(asked)}, in the changelog ${times(length)}`);
}

function processCheck({ toolKill }: DemoFacts): Check {
  const claim = 'Its processes ended with the worker';
  if (toolKill === undefined) return unseen(claim);
  return check(claim, !toolKill.alive, toolKill.alive ? 'it still runs' : 'none is left');
}

function liveTextCheck(facts: DemoFacts): Check {
  const texts = answersOf(facts).map(({ content }) => textOf(content).trim());
  const shown = facts.shown.map((text) => text.trim());
  const figure = `${shown.filter((text) => text !== '').length} texts, across both kills`;
  return check('The follower showed each answer once', isSame(shown, texts), figure);
}

function historyCheck({ history, messages }: DemoFacts): Check {
  const transcript = Buffer.byteLength(JSON.stringify(messages));
  const figure = `${kilobytes(history.bytes)} in ${history.events} events, transcript ${kilobytes(transcript)}`;
  // The server's own bookkeeping is about 250 bytes an event; contents come once.
  const holds = history.bytes <= 2 * transcript + 400 * history.events;
  return check('History holds what is new, once', holds, figure);
}

function unseen(claim: string): Check {
  return { claim, verdict: 'unseen', figure: 'it did not come to that in this run' };
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}

function figureOr(problems: readonly string[], figure: string): string {
  return problems.length === 0 ? figure : problems.join('; ');
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_024).toFixed(1)} KB`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
