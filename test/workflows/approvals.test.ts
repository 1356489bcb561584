import { describe, expect, test } from 'vitest';
import { Approvals } from '../../src/workflows/approvals.js';
import { expectFits } from '../support/pages.js';

const call = (toolCallId: string) => ({ toolCallId, toolName: 'bash', args: { command: 'ls' } });

describe('Approvals', () => {
  test('an answer settles the call that it names, and only that', async () => {
    const approvals = new Approvals();
    const [a, b] = [approvals.ask(call('a')), approvals.ask(call('b'))];
    expect(approvals.answer({ approved: false, toolCallId: 'b', reason: 'no' })).toEqual({
      toolCallId: 'b',
      toolName: 'bash',
    });
    expect(await b).toEqual({ kind: 'denied', reason: 'no' });
    expect([approvals.has('a'), approvals.has('b'), approvals.size]).toEqual([true, false, 1]);
    expect(approvals.answer({ approved: true })).toEqual({ toolCallId: 'a', toolName: 'bash' });
    expect(await a).toEqual({ kind: 'approved' });
  });

  test('without an id an answer is for the only pending call', () => {
    const approvals = new Approvals();
    expect(approvals.answer({ approved: true })).toEqual({ problem: 'No approval is pending.' });
    void approvals.ask(call('a'));
    void approvals.ask(call('b'));
    expect(approvals.answer({ approved: true })).toEqual({
      problem: 'Several approvals are pending; name one by toolCallId: a, b.',
    });
    expect(approvals.answer({ approved: true, toolCallId: 'c' })).toEqual({
      problem: 'No approval is pending for c; pending: a, b.',
    });
    expect(approvals.size).toBe(2);
  });

  test('a call is answered once', () => {
    const approvals = new Approvals();
    void approvals.ask(call('a'));
    approvals.answer({ approved: true, toolCallId: 'a' });
    expect(approvals.answer({ approved: false, toolCallId: 'a' })).toHaveProperty('problem');
  });

  test('an abort answers all that are pending', async () => {
    const approvals = new Approvals();
    const outcomes = [approvals.ask(call('a')), approvals.ask(call('b'))];
    approvals.abort();
    expect(await Promise.all(outcomes)).toEqual([{ kind: 'aborted' }, { kind: 'aborted' }]);
    expect(approvals.size).toBe(0);
  });

  test('problems stay short with 500 pending calls of long ids, and with a long id asked for', () => {
    const approvals = new Approvals();
    for (let i = 0; i < 500; i++) void approvals.ask(call(`${i}${'🦉'.repeat(50_000)}`));
    for (const toolCallId of [undefined, 'x'.repeat(1_000_000)]) {
      const answer = approvals.answer({
        approved: true,
        ...(toolCallId === undefined ? {} : { toolCallId }),
      });
      const problem = 'problem' in answer ? answer.problem : '';
      expect(problem).toContain('and 490 more');
      expect(problem.length).toBeLessThan(2_000);
      expect(Buffer.from(problem).toString()).toBe(problem);
    }
  });

  test.each(['x', '"', '\u0001', '🦉', '\ud800'])(
    'summaries of 500 calls with long ids, names and arguments of %j fit their share',
    (piece) => {
      const approvals = new Approvals();
      const long = piece.repeat(100_000);
      for (let i = 0; i < 500; i++) {
        void approvals.ask({ toolCallId: `${i}${long}`, toolName: long, args: { long } });
      }
      const summaries = approvals.summaries(40_000);
      expect(Buffer.byteLength(JSON.stringify(summaries))).toBeLessThanOrEqual(40_000);
      expect(summaries.length).toBeGreaterThanOrEqual(9);
      expect(summaries[0]?.toolCallId.startsWith('0')).toBe(true);
      expectFits(summaries);
    },
  );

  test('a summary shows arguments as canonical JSON, whole where they are short', () => {
    const approvals = new Approvals();
    void approvals.ask({ toolCallId: 'a', toolName: 'bash', args: { b: 1, a: 'x' } });
    expect(approvals.summaries(40_000)).toEqual([
      { toolCallId: 'a', toolName: 'bash', args: '{"a":"x","b":1}' },
    ]);
  });
});
