// docker-compose.yml and what it refers to. Whether it runs is what `npm run twin` shows, without containers.

import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.js';
import { configSchema } from '../../src/config/schema.js';
import { serverSettings } from '../../src/dev-server/launch.js';
import { toMilliseconds } from '../../src/protocol/duration.js';
import { forceAfterGraceMs } from '../../src/worker/create-worker.js';
import {
  compose,
  composeDocument,
  composeText,
  isThere,
  pathOf,
  serviceOf,
  textOf,
} from './compose-file.js';

const workerConfig: unknown = JSON.parse(textOf('deploy/worker/holdfast.config.json'));
const services = Object.entries(compose.services);
const runsOnce = ['temporal-schema', 'temporal-namespace'];
const runsLong = services.filter(([name]) => !runsOnce.includes(name));

/** `${NAME:-default}` in the compose file. */
const variables = new Map(
  [...composeText.matchAll(/\$\{(\w+)(?::-([^}]*))?\}/g)].map(
    ([, name = '', value]) => [name, value] as const,
  ),
);

/** `NAME=value` in .env.example, commented out or not. */
const examples = new Map(
  [...textOf('.env.example').matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(
    ([, name = '', value = '']) => [name, value] as const,
  ),
);

describe('docker-compose.yml', () => {
  test('conforms to the Compose Specification', () => {
    const { $schema: _, ...schema } = JSON.parse(textOf('test/deploy/compose-spec.json'));
    const ajv = new Ajv({ strict: false, formats: { duration: true }, allErrors: true });
    const validate = ajv.compile(schema);
    validate(composeDocument);
    expect(validate.errors ?? []).toEqual([]);
    validate({ services: { worker: { helthcheck: {} } } });
    expect(validate.errors).not.toEqual([]);
  });

  test.each(services)('%s: its image is pinned to an exact tag', (_, { image }) => {
    expect(image).toMatch(/^[\w/-]+:\d+\.\d+(\.\d+)?(-alpine)?$/);
    expect(image).not.toContain('auto-setup');
  });

  test('the schema is set up by the tools of the very server that uses it', () => {
    const [version] = /[\d.]+$/.exec(serviceOf('temporal').image) ?? [];
    for (const name of runsOnce) {
      expect(serviceOf(name).image).toBe(`temporalio/admin-tools:${version}`);
    }
  });

  test('the worker is the package of this version, built here', () => {
    const { version } = JSON.parse(textOf('package.json')) as { version: string };
    expect(serviceOf('worker')).toMatchObject({ image: `holdfast-worker:${version}`, build: '.' });
  });

  test.each(runsLong)('%s is started again and has a health check', (_, service) => {
    expect(service.restart).toBe('unless-stopped');
    expect(service.healthcheck?.test[0]).toBe('CMD');
    expect(service.healthcheck?.test.length).toBeGreaterThan(1);
  });

  test.each(runsOnce)('%s runs once, and somebody waits for its success', (name) => {
    expect(serviceOf(name).restart).toBe('no');
    const conditions = services.flatMap(([, { depends_on: needs }]) => needs[name] ?? []);
    expect(conditions).toContainEqual({ condition: 'service_completed_successfully' });
  });

  test.each(services)('%s waits for health or success, never for a mere start', (_, service) => {
    for (const [name, { condition }] of Object.entries(service.depends_on)) {
      const expected = runsOnce.includes(name) ? 'completed_successfully' : 'healthy';
      expect(condition).toBe(`service_${expected}`);
    }
  });

  test('publishes on the loopback interface only, and the database not at all', () => {
    const published = services.flatMap(([, { ports }]) => ports);
    expect(published).toHaveLength(2);
    for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:/);
    expect(serviceOf('postgresql').ports).toEqual([]);
  });

  test.each(services)('%s: what it mounts is there', (_, { volumes }) => {
    for (const volume of volumes) {
      const [source = '', , mode] = volume.replace(/\$\{\w+:-([^}]*)\}/, '$1').split(':');
      const isFile = source.startsWith('.');
      expect(isFile ? isThere(source) : source in compose.volumes).toBe(true);
      expect(mode).toBe(isFile ? 'ro' : undefined);
    }
  });

  test('the database keeps its data in a volume', () => {
    expect(serviceOf('postgresql').volumes).toEqual(['postgresql:/var/lib/postgresql/data']);
  });

  test('workers, where agents run commands, have no way to the database', () => {
    expect(compose.networks['database']).toEqual({ internal: true });
    const inDatabase = services.filter(([, { networks }]) => networks.includes('database'));
    expect(inDatabase.map(([name]) => name)).toEqual(['postgresql', 'temporal-schema', 'temporal']);
  });

  test('only the worker gets the provider’s key', () => {
    const having = services.filter(([, { environment }]) => 'OPENAI_API_KEY' in environment);
    expect(having.map(([name]) => name)).toEqual(['worker']);
  });

  test('stops the worker no sooner than it stops by itself, and collects what commands leave', async () => {
    expect(workerConfig).not.toHaveProperty('shutdownGrace');
    const { config } = await loadConfig(undefined, { directory: pathOf('deploy') });
    const { stop_grace_period: grace = '', ...worker } = serviceOf('worker');
    expect(grace).toBe('1m');
    expect(toMilliseconds('1 minute')).toBeGreaterThan(config.shutdownGraceMs + forceAfterGraceMs);
    expect(worker['init']).toBe(true);
  });

  test('the worker’s config is valid and names the mounted workspace', () => {
    expect(configSchema.safeParse(workerConfig).error).toBeUndefined();
    expect(workerConfig).toEqual({ workspaces: { default: { root: '/workspace' } } });
    expect(serviceOf('worker').volumes.some((volume) => volume.endsWith(':/workspace'))).toBe(true);
  });
});

describe('the variables of docker-compose.yml', () => {
  test.each([...variables])('%s has a default, which .env.example tells', (name, value) => {
    const example = examples.get(name);
    expect(example).toBeDefined();
    // What is empty by default may be shown with what it then means.
    expect(value === '' ? value : example).toBe(value);
  });

  test('.env.example has no others', () => {
    expect([...examples.keys()].toSorted()).toEqual([...variables.keys()].toSorted());
  });

  test('.env itself is not committed', () => {
    expect(textOf('.gitignore').split('\n')).toContain('.env');
  });
});

describe('the deployment’s Temporal server', () => {
  test('has the settings of holdfast dev', () => {
    const settings = parse(textOf('deploy/temporal/dynamicconfig.yaml')) as Record<
      string,
      readonly { readonly value: string | number | boolean }[]
    >;
    const lines = Object.entries(settings).map(
      ([name, [setting]]) => `${name}=${setting?.value ?? ''}`,
    );
    expect(lines).toEqual(serverSettings.map((line) => line.replaceAll('"', '')));
  });
});
