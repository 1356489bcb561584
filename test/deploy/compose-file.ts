// docker-compose.yml as the tests of this folder see it.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

export const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
export const textOf = (path: string) => readFileSync(pathOf(path), 'utf8');
export const isThere = (path: string) => existsSync(pathOf(path));

const serviceSchema = z.looseObject({
  image: z.string(),
  build: z.string().optional(),
  restart: z.string(),
  networks: z.array(z.string()),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  environment: z.record(z.string(), z.coerce.string()).default({}),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  healthcheck: z.looseObject({ test: z.array(z.string()) }).optional(),
  stop_grace_period: z.string().optional(),
});

export type Service = z.infer<typeof serviceSchema>;

const composeSchema = z.looseObject({
  services: z.record(z.string(), serviceSchema),
  networks: z.record(z.string(), z.looseObject({ internal: z.boolean().optional() }).nullable()),
  volumes: z.record(z.string(), z.unknown()),
});

export const composeText = textOf('docker-compose.yml');
export const composeDocument: unknown = parse(composeText);
export const compose = composeSchema.parse(composeDocument);

export function serviceOf(name: string): Service {
  const service = compose.services[name];
  if (service === undefined) throw new Error(`There is no service ${name}.`);
  return service;
}
