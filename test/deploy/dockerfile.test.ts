// The Dockerfile, as far as it can be checked without building it.

import { describe, expect, test } from 'vitest';
import { isThere, textOf } from './compose-file.js';

interface Instruction {
  readonly name: string;
  readonly value: string;
}

const instructions: readonly Instruction[] = textOf('Dockerfile')
  .split('\n')
  .filter((line) => !line.trimStart().startsWith('#'))
  .join('\n')
  .replaceAll(/\\\n/g, ' ')
  .split('\n')
  .flatMap((line) => {
    const match = /^([A-Z]+)\s+(.*)$/.exec(line);
    return match === null ? [] : [{ name: match[1] ?? '', value: (match[2] ?? '').trim() }];
  });

const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
const valuesOf = (name: string, from = instructions) =>
  from.filter((instruction) => instruction.name === name).map(({ value }) => value);

describe('the Dockerfile', () => {
  test('builds in a stage of its own, on Node images pinned to one exact tag', () => {
    const bases = valuesOf('FROM').map((base) => base.split(' ')[0]);
    expect(bases).toHaveLength(2);
    expect(new Set(bases).size).toBe(1);
    expect(bases[0]).toMatch(/^node:\d+\.\d+\.\d+-bookworm-slim$/);
  });

  test('its Node is one the package says it runs on', () => {
    const { engines } = JSON.parse(textOf('package.json')) as { engines: { node: string } };
    const [, least = ''] = /^>=(\d+)/.exec(engines.node) ?? [];
    const [, used = ''] = /^node:(\d+)/.exec(valuesOf('FROM')[0] ?? '') ?? [];
    expect(Number(used)).toBeGreaterThanOrEqual(Number(least));
  });

  test('runs the worker as a user without rights', () => {
    expect(valuesOf('USER', last)).toEqual(['node']);
    const after = last.slice(last.findIndex(({ name }) => name === 'USER'));
    expect(after.map(({ name }) => name)).toEqual(['USER', 'WORKDIR', 'ENTRYPOINT', 'CMD']);
    expect(valuesOf('ENTRYPOINT', last)).toEqual(['["holdfast"]']);
  });

  test('carries no secret and fetches nothing by address', () => {
    for (const name of ['ARG', 'ENV']) {
      for (const value of valuesOf(name)) expect(value).not.toMatch(/KEY|TOKEN|PASSWORD|SECRET/i);
    }
    expect(valuesOf('ADD')).toEqual([]);
    for (const command of valuesOf('RUN')) {
      expect(command).not.toMatch(/https?:|curl|wget|npm install/);
    }
  });

  test('installs what the lock file says, without the scripts of packages', () => {
    const installs = valuesOf('RUN').filter((command) => command.includes('npm ci'));
    expect(installs).toHaveLength(2);
    for (const command of installs) expect(command).toContain('--ignore-scripts');
    expect(installs[1]).toContain('--omit=dev');
  });

  test('what it copies and calls is there', () => {
    const sources = valuesOf('COPY')
      .filter((value) => !value.startsWith('--from='))
      .flatMap((value) => value.split(/\s+/).slice(0, -1));
    expect(sources).toEqual(['package.json', 'package-lock.json', '.']);
    for (const source of sources) expect(isThere(source)).toBe(true);
    const { scripts, bin } = JSON.parse(textOf('package.json')) as {
      scripts: Record<string, string>;
      bin: Record<string, string>;
    };
    expect(scripts).toHaveProperty('build');
    expect(valuesOf('RUN', last).join()).toContain(`/opt/holdfast/${bin['holdfast']}`);
  });
});

describe('.dockerignore', () => {
  const lines = textOf('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

  test('lets in what it names, and nothing else', () => {
    expect(lines[0]).toBe('*');
    expect(lines.slice(1).every((line) => line.startsWith('!'))).toBe(true);
    const named = lines.slice(1).map((line) => line.slice(1));
    for (const path of named) expect(path.includes('*') || isThere(path)).toBe(true);
    expect(named).not.toContain('.env');
  });
});
