// What docker-compose.yml says of a service, so that the twin runs with the same settings.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

export const root = fileURLToPath(new URL('../..', import.meta.url));

const serviceSchema = z.object({
  image: z.string(),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.coerce.string()).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
});

const composeSchema = z.object({ services: z.record(z.string(), serviceSchema) });

export type ServiceSettings = z.infer<typeof serviceSchema>;

/** Reads a service as Compose does where no variable is set: each `${NAME:-default}` is its default. */
export async function composeSettings(): Promise<(service: string) => ServiceSettings> {
  const text = await readFile(join(root, 'docker-compose.yml'), 'utf8');
  const { services } = composeSchema.parse(parse(text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')));
  return (name) => {
    const service = services[name];
    if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}.`);
    return service;
  };
}

/** The address that the service's health check asks, at this port. */
export function healthUrlOf({ healthcheck }: ServiceSettings, port: number): URL {
  const address = healthcheck?.test.find((word) => word.startsWith('http://'));
  const url = new URL(address ?? 'no address');
  url.port = String(port);
  return url;
}

/** `1.32.1` of `temporalio/server:1.32.1`. */
export function versionOf({ image }: ServiceSettings): string {
  return image.slice(image.lastIndexOf(':') + 1);
}
