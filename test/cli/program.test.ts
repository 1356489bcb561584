import pc from 'picocolors';
import { describe, expect, test } from 'vitest';
import { commandName } from '../../src/cli/command-name.js';
import { toInput } from '../../src/cli/commands/run.js';
import { describeDelivery } from '../../src/cli/deliver.js';
import { exitCodeOf } from '../../src/cli/follow-run.js';
import { createProgram } from '../../src/cli/program.js';
import type { Terminal } from '../../src/cli/terminal.js';

const terminal: Terminal = {
  write: () => {},
  note: () => {},
  isTty: false,
  columns: 80,
  colours: pc.createColors(false),
  noteColours: pc.createColors(false),
};

function commands() {
  return createProgram(terminal).commands;
}

describe('the command line', () => {
  test('has the commands that users type', () => {
    const names = commands().map((command) => command.name());
    for (const name of 'dev worker run prompt steer follow-up abort approve deny close events messages list'.split(
      ' ',
    )) {
      expect(names).toContain(name);
    }
  });

  test.each(commands().map((command) => [command.name()]))(
    '%s has a description and examples in its help',
    (name) => {
      const command = createProgram(terminal).commands.find((one) => one.name() === name);
      let help = '';
      command?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      expect(command?.description()).not.toBe('');
      expect(help).toMatch(new RegExp(`Examples:\\n  \\$ .*holdfast ${name}`));
    },
  );

  test('every command that prints data has --json', () => {
    const withoutData = ['dev', 'worker'];
    for (const command of commands()) {
      if (withoutData.includes(command.name())) continue;
      expect([command.name(), command.options.map(({ long }) => long)]).toEqual([
        command.name(),
        expect.arrayContaining(['--json']),
      ]);
    }
  });
});

describe('commandName', () => {
  test.each([
    ['holdfast', 'npm run -s holdfast --', 'npx holdfast'],
    ['npx', 'holdfast', 'npx holdfast'],
    ['start', 'holdfast', 'npx holdfast'],
    [undefined, 'holdfast', 'holdfast'],
  ])('run by npm as %s: %s in a checkout, %s when installed', (script, inCheckout, installed) => {
    const environment = { npm_lifecycle_event: script };
    expect(commandName(environment, false)).toBe(inCheckout);
    expect(commandName(environment, true)).toBe(installed);
  });
});

describe('toInput', () => {
  test('says only what was asked for', () => {
    expect(toInput('Go', {})).toEqual({ prompt: 'Go' });
    expect(
      toInput('Go', {
        agent: 'a',
        model: 'm',
        thinking: 'high',
        tools: ['read'],
        workspace: 'w',
        system: 's',
        maxTurns: 3,
        session: true,
      }),
    ).toEqual({
      prompt: 'Go',
      agent: 'a',
      model: 'm',
      thinkingLevel: 'high',
      tools: ['read'],
      workspace: 'w',
      systemPrompt: 's',
      limits: { maxTurns: 3 },
      lifetime: 'session',
    });
  });
});

describe('exitCodeOf', () => {
  test.each([
    ['stop', 0],
    ['toolUse', 0],
    ['length', 0],
    ['error', 1],
    ['limit', 1],
    ['aborted', 130],
  ])('%s is %i', (stopReason, code) => expect(exitCodeOf(stopReason)).toBe(code));
});

describe('describeDelivery', () => {
  test('a rejected input is an error with its reason', () => {
    expect(() => describeDelivery('prompt', { outcome: 'rejected', reason: 'busy' })).toThrow(
      'Rejected: busy',
    );
  });

  test('an id that was seen before is told', () => {
    const delivery = { outcome: 'duplicate', first: { outcome: 'queued' } } as const;
    expect(describeDelivery('steer', delivery)).toMatch(/sent before/);
  });
});
