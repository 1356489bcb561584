import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { z as zod3 } from 'zod/v3';
import type { ToolContext } from '../../src/activities/definitions.js';
import { defineTool } from '../../src/config/index.js';
import type { JsonObject } from '../../src/protocol/json.js';

const context = {} as ToolContext;

describe('defineTool', () => {
  test('turns a zod schema into JSON schema and gives execute what the schema makes of the arguments', async () => {
    const weather = defineTool({
      name: 'weather',
      description: 'Tells the weather',
      parameters: z.object({
        city: z.string().describe('Where'),
        days: z.number().int().default(3),
        units: z.enum(['metric', 'imperial']).optional(),
      }),
      effects: 'read-only',
      timeout: '30 seconds',
      execute: ({ city, days, units }) => {
        expectTypeOf(city).toEqualTypeOf<string>();
        expectTypeOf(days).toEqualTypeOf<number>();
        expectTypeOf(units).toEqualTypeOf<'metric' | 'imperial' | undefined>();
        return `${city}: rain for ${days} days`;
      },
    });
    expect(weather.parameters).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Where' },
        days: {
          type: 'integer',
          default: 3,
          minimum: -9007199254740991,
          maximum: 9007199254740991,
        },
        units: { type: 'string', enum: ['metric', 'imperial'] },
      },
      required: ['city'],
    });
    expect(weather).toMatchObject({ name: 'weather', effects: 'read-only', timeoutMs: 30_000 });
    expect(weather).not.toHaveProperty('timeout');
    expect(await weather.execute({ city: 'Bergen' }, context)).toBe('Bergen: rain for 3 days');
  });

  test('what a zod schema refuses beyond its JSON schema is an error that names the field', async () => {
    const even = defineTool({
      name: 'even',
      description: 'Takes even numbers',
      parameters: z.object({ n: z.number().refine((n) => n % 2 === 0, 'must be even') }),
      execute: () => 'ok',
    });
    await expect(even.execute({ n: 3 }, context)).rejects.toThrow(
      /Invalid arguments:\n.*must be even\n.*at n/,
    );
  });

  test('hands JSON schema and arguments on as they are', async () => {
    const parameters = { type: 'object', properties: { path: { type: 'string' } } } as const;
    const count = defineTool({
      name: 'count',
      description: 'Counts',
      parameters,
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<JsonObject>();
        return JSON.stringify(args);
      },
    });
    expect(count.parameters).toBe(parameters);
    expect(await count.execute({ path: 'a', extra: 1 }, context)).toBe('{"path":"a","extra":1}');
  });

  test('a schema that JSON schema cannot say, and a time-out that is none, are errors with the tool in them', () => {
    const tool = { name: 'calendar', description: 'Adds a date', execute: () => 'ok' };
    expect(() => defineTool({ ...tool, parameters: z.object({ on: z.date() }) })).toThrow(
      /^Tool "calendar": its parameters have no JSON schema: Date/,
    );
    expect(() => defineTool({ ...tool, parameters: { type: 'object' }, timeout: 'soon' })).toThrow(
      'Tool "calendar": timeout: expected milliseconds or a text like "30 minutes"',
    );
  });

  test('a schema of zod 3 is an error that says so', () => {
    const parameters = zod3.object({}) as never;
    expect(() =>
      defineTool({ name: 'old', description: 'Is old', parameters, execute: () => 'ok' }),
    ).toThrow('Tool "old": its parameters are a schema of zod 3; make them with zod 4');
  });
});
