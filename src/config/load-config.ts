// Finds the config file, reads it and resolves it. Workers alone do so: callers choose by name.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBuiltInTools } from '../activities/tools/index.js';
import { ConfigError } from './config-error.js';
import { resolveConfig } from './resolve-config.js';
import type { BuiltInTools, ResolvedConfig } from './resolve-config.js';
import type { UserConfig } from './user-config.js';

export interface LoadConfigOptions {
  /** Where the config file is looked for. Default: the working directory. */
  readonly directory?: string;
  /** Default: the process's. */
  readonly environment?: { readonly [name: string]: string | undefined };
  /** Default: bash, read, write, edit. */
  readonly builtInTools?: BuiltInTools;
}

export interface LoadedConfig {
  readonly config: ResolvedConfig;
  /** Absent: there is no config file, and the defaults hold. */
  readonly file?: string;
}

export const configFileNames = ['ts', 'js', 'mjs', 'json'].map(
  (extension) => `holdfast.config.${extension}`,
);

/**
 * Loads the config at `path`, or the one in the directory, or the defaults.
 * @throws ConfigError that names the file and says what is wrong with it
 */
export async function loadConfig(
  path?: string,
  options: LoadConfigOptions = {},
): Promise<LoadedConfig> {
  const directory = options.directory ?? process.cwd();
  const file = path === undefined ? findConfigFile(directory) : resolve(directory, path);
  const shown = file === undefined ? undefined : relative(directory, file) || file;
  const userConfig = file === undefined ? {} : await readConfigFile(file, shown ?? file);
  const config = resolveConfig(userConfig, {
    environment: options.environment ?? process.env,
    builtInTools: options.builtInTools ?? createBuiltInTools,
    directory: file === undefined ? directory : dirname(file),
    workingDirectory: directory,
    ...(shown === undefined ? {} : { file: shown }),
  });
  return file === undefined ? { config } : { config, file };
}

function findConfigFile(directory: string): string | undefined {
  const [first, second] = configFileNames.filter((name) => existsSync(join(directory, name)));
  if (first !== undefined && second !== undefined) {
    throw new ConfigError(
      [`there is ${second} as well; keep one, or choose with --config.`],
      first,
    );
  }
  return first === undefined ? undefined : join(directory, first);
}

async function readConfigFile(file: string, shown: string): Promise<UserConfig> {
  if (!existsSync(file)) throw new ConfigError(['there is no such file; correct the path.'], shown);
  const read = extname(file) === '.json' ? readJson : readModule;
  const content = await read(file).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`it cannot be loaded: ${reason}`], shown, error);
  });
  if (content === undefined) {
    throw new ConfigError(
      ['it exports no config; write `export default defineConfig({ … })`.'],
      shown,
    );
  }
  return content as UserConfig;
}

/** Some editors begin a file with a byte order mark, which no JSON parser takes. */
async function readJson(file: string): Promise<unknown> {
  return JSON.parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, ''));
}

/**
 * A config may import from `holdfast` and `zod` wherever it lies: the package's front door is the one that
 * runs here, and where no zod is installed for the config it is ours.
 */
async function readModule(file: string): Promise<unknown> {
  // Loaded only for this: most of what reads a config file is the compiler.
  const { createJiti } = await import('jiti');
  const jiti = createJiti(import.meta.url, {
    moduleCache: false,
    interopDefault: false,
    // The installed package's other doors share its modules.
    nativeModules: ['holdfast'],
    virtualModules: {
      holdfast: await import('../index.js'),
      ...(hasPackage('zod', file) ? {} : { zod: await import('zod') }),
    },
    alias: {
      'holdfast/worker': door('../worker/index.js'),
      'holdfast/workflow': door('../workflows/library.js'),
      'holdfast/testing': door('../testing/index.js'),
    },
  });
  const exported = await jiti.import<{ default?: unknown }>(file);
  return exported.default;
}

function hasPackage(name: string, file: string): boolean {
  try {
    createRequire(file).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** In a checkout the sources are TypeScript. */
function door(path: string): string {
  const file = fileURLToPath(new URL(path, import.meta.url));
  return existsSync(file) ? file : file.replace(/js$/, 'ts');
}
