// What the documents show: TypeScript compiles against the sources, and commands exist with their options.

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { createTerminal } from '../../src/cli/terminal.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const documents = [
  'README.md',
  ...(await readdir(join(root, 'docs')))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

/** Values that fragments use without saying where they come from. */
const prelude = `
declare const environment: import('holdfast/testing').TestEnvironment;
declare const client: import('holdfast').AgentClient;
declare const run: import('holdfast').AgentRun;
`;

interface Block {
  readonly document: string;
  readonly line: number;
  readonly text: string;
}

async function blocksOf(language: string): Promise<readonly Block[]> {
  const blocks: Block[] = [];
  for (const document of documents) {
    const text = await readFile(join(root, document), 'utf8');
    for (const match of text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))) {
      const line = text.slice(0, match.index).split('\n').length + 1;
      blocks.push({ document, line, text: match[1] ?? '' });
    }
  }
  return blocks;
}

describe('the documents', () => {
  test('show TypeScript that compiles', async () => {
    const blocks = await blocksOf('ts');
    expect(blocks.length).toBeGreaterThan(3);
    // Below the root, where packages and the paths of its tsconfig.json are found.
    await mkdir(join(root, '.holdfast'), { recursive: true });
    const folder = await mkdtemp(join(root, '.holdfast', 'snippets-'));
    try {
      for (const [index, { text }] of blocks.entries()) {
        await writeFile(join(folder, `${index}.ts`), text);
      }
      await writeFile(join(folder, 'prelude.d.ts'), prelude);
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(snippetsConfig));
      const compiled = await promisify(execFile)(
        process.execPath,
        [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder, '--pretty', 'false'],
        { cwd: folder },
      ).catch((error: { readonly stdout: string }) => error);
      expect(inDocuments(compiled.stdout, blocks)).toBe('');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('name commands that exist, with options that they have', async () => {
    const program = createProgram(createTerminal());
    const problems = (await blocksOf('sh')).flatMap(({ document, text }) =>
      [...text.matchAll(/(?:npm run -s holdfast --|npx holdfast|^holdfast)(?= ) ([^#\n]*)/gm)]
        .map((match) => problemOf(match[1] ?? '', program))
        .filter((problem) => problem !== undefined)
        .map((problem) => `${document}: ${problem}`),
    );
    expect(problems).toEqual([]);
  });
});

const snippetsConfig = {
  extends: '../../tsconfig.json',
  compilerOptions: { moduleDetection: 'force', noUnusedLocals: false },
  include: ['*.ts'],
};

/** The compiler's lines, with each block called by its place in its document. */
function inDocuments(output: string, blocks: readonly Block[]): string {
  return output.replaceAll(/^(\d+)\.ts\((\d+),(\d+)\)/gm, (_, index, line, column) => {
    const block = blocks[Number(index)];
    return `${block?.document}:${(block?.line ?? 0) + Number(line) - 1}:${column}`;
  });
}

function problemOf(line: string, program: Command): string | undefined {
  // Quoted text is data.
  const words = line
    .replaceAll(/"[^"]*"|'[^']*'/g, 'text')
    .trim()
    .split(/\s+/);
  const [name = ''] = words;
  if (name.startsWith('-')) return undefined;
  const command = program.commands.find((candidate) => candidate.name() === name);
  if (command === undefined) return `there is no command ${name}`;
  const known = command.options.flatMap(({ long, short }) => [long, short]);
  const unknown = words
    .filter((word) => word.startsWith('-'))
    .map((word) => word.split('=')[0] ?? word)
    .filter((flag) => flag !== '--help' && !known.includes(flag));
  return unknown.length === 0 ? undefined : `${name} has no ${unknown.join(', ')}`;
}
