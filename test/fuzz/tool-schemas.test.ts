// Arguments of tools against schemas of any kind: what is valid stays as it is, what was meant well is mended,
// and everything else is an answer for the model.

import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../../src/activities/definitions.js';
import { prepareCall } from '../../src/activities/tool-arguments.js';
import { defineTool } from '../../src/config/define-tool.js';
import type { PreparedCall } from '../../src/protocol/activities.js';
import type { JsonObject, JsonValue } from '../../src/protocol/json.js';
import { call, toolSpec } from '../activities/model/model-fixtures.js';
import { holds } from './cases.js';
import { anyJson, anyText, damage, damaged } from './json-values.js';
import {
  carelessly,
  dialect,
  parameterNode,
  toJsonSchema,
  toZod,
  validObject,
} from './tool-schema.js';
import type { Dialect, ObjectNode } from './tool-schema.js';

interface Case {
  readonly node: ObjectNode;
  readonly schema: JsonObject;
  readonly args: JsonObject;
}

const withArguments: fc.Arbitrary<Case> = fc
  .tuple(parameterNode, dialect)
  .chain(([node, how]) =>
    validObject(node).map((args) => ({ node, schema: toJsonSchema(node, how), args })),
  );

function prepare(args: JsonObject, schema: JsonObject): PreparedCall {
  const before = JSON.stringify([args, schema]);
  const prepared = prepareCall(call('id', 'measure', args), [toolSpec('measure', schema)], {});
  // The transcript keeps what the model sent.
  expect(JSON.stringify([args, schema])).toBe(before);
  return prepared;
}

/** The arguments that the tool is executed with. */
function executedWith(args: JsonObject, prepared: PreparedCall): JsonObject {
  if (prepared.kind === 'settled') throw new Error(prepared.text);
  return prepared.arguments ?? args;
}

describe('arguments of a tool', () => {
  test(
    'that are valid stay as they are, whatever the dialect of the schema',
    holds(
      fc.property(withArguments, ({ schema, args }) => {
        expect(prepare(args, schema)).toEqual({ kind: 'ready' });
      }),
    ),
  );

  test(
    'that are numbers or booleans in strings, or null for what is absent, are mended',
    holds(
      fc.property(withArguments, ({ node, schema, args }) => {
        const careless = carelessly(node, args);
        expect(executedWith(careless, prepare(careless, schema))).toEqual(args);
      }),
    ),
  );

  test(
    'keep fields that the schema does not know, unless it forbids them',
    holds(
      fc.property(withArguments, anyText, anyJson, ({ node, schema, args }, name, value) => {
        fc.pre(!node.fields.some((field) => field.name === name));
        const more = Object.fromEntries([...Object.entries(args), [name, value]]) as JsonObject;
        const prepared = prepare(more, schema);
        if (node.open !== false) expect(executedWith(more, prepared)).toEqual(more);
        else expectRefusal(prepared, more);
      }),
    ),
  );

  test(
    'that are damaged are mended to valid ones, or refused with the tool, the path and what was received',
    holds(
      fc.property(
        withArguments,
        fc.array(damage(['path', 'limit', 'constructor', '__proto__']), { maxLength: 3 }),
        ({ node, args }, list) => {
          const schema = toJsonSchema(node, plainDialect);
          const value = list.reduce<JsonValue>(
            (present, each) => damaged(present, each).value,
            args,
          );
          fc.pre(typeof value === 'object' && value !== null && !Array.isArray(value));
          const given = value as JsonObject;
          const prepared = prepare(given, schema);
          if (prepared.kind === 'settled') {
            expectRefusal(prepared, given);
            return;
          }
          const executed = executedWith(given, prepared);
          expect(ajv.validate(schema, executed)).toBe(true);
          ajv.removeSchema(schema);
          // Mended once, nothing is left to mend.
          expect(prepare(executed, schema)).toEqual({ kind: 'ready' });
        },
      ),
    ),
  );

  test(
    'meet any JSON at all in the place of the schema without harm',
    holds(
      fc.property(
        withArguments,
        fc.array(damage(['type', 'properties', 'items', 'anyOf', '$ref', 'required', 'pattern']), {
          minLength: 1,
          maxLength: 3,
        }),
        ({ schema, args }, list) => {
          const value = list.reduce<JsonValue>(
            (present, each) => damaged(present, each).value,
            schema,
          );
          fc.pre(typeof value === 'object' && value !== null && !Array.isArray(value));
          const prepared = prepare(args, value as JsonObject);
          if (prepared.kind === 'settled') {
            expect(prepared.text).toMatch(/"measure".*[Nn]othing was executed/s);
          }
        },
      ),
    ),
  );
});

const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true });

const plainDialect: Dialect = {
  draft: '2020-12',
  nullable: 'anyOf',
  either: 'anyOf',
  booleanBounds: false,
  unknown: false,
};

function expectRefusal(prepared: PreparedCall, received: JsonObject): void {
  if (prepared.kind !== 'settled') throw new Error('not refused');
  const { text } = prepared;
  expect(text).toMatch(/^Invalid arguments for "measure"; nothing was executed:\n- /);
  const shown = JSON.stringify(received);
  expect(text).toContain(`Received: ${shown.slice(0, 500)}`.slice(0, 500));
  // Each line names a path, or the arguments as a whole.
  const lines = text.slice(text.indexOf('\n- ') + 1, text.lastIndexOf('\nReceived: '));
  for (const line of lines.split('\n- ')) expect(line).toMatch(/^(- )?(the arguments|\/|… and)/);
}

describe('a tool with zod parameters', () => {
  test(
    'is told what its schema makes of valid arguments, and offers that schema to the model',
    holds(
      fc.asyncProperty(
        parameterNode.chain((node) => validObject(node).map((args) => ({ node, args }))),
        async ({ node, args }) => {
          // What a schema of zod cannot take itself is none of ours.
          const schema = toZod(node);
          fc.pre(schema.safeParse(args).success);
          let told: unknown;
          const tool = defineTool({
            name: 'measure',
            description: 'Measures.',
            parameters: schema,
            execute: (given) => {
              told = given;
              return 'measured';
            },
          });
          expect(prepare(args, tool.parameters)).toEqual({ kind: 'ready' });
          await tool.execute(args, {} as ToolContext);
          expect(told).toEqual(schema.parse(args));
          const careless = carelessly(node, args);
          expect(executedWith(careless, prepare(careless, tool.parameters))).toEqual(args);
        },
      ),
    ),
  );
});
