// The shape of a config file, checked before anything is made of it. Unknown fields are errors: a
// misspelt one would be a setting that silently does nothing.

import { z } from 'zod';
import { hookNames, thinkingLevels } from '../protocol/agent-definition.js';
import { durationProblem } from '../protocol/duration.js';
import { isJsonObject } from '../protocol/json.js';
import { workspaceNameProblem } from '../protocol/workspace.js';

/** Refuses unknown fields, and says which there are. */
function fields<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has the unknown field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}; there are ${known}`
        : undefined,
  });
}

const text = z.string().min(1, 'must not be empty');

const duration = z
  .custom<string | number>((value) => ['string', 'number'].includes(typeof value), {
    error: 'must be a duration: milliseconds, or a text such as "10 minutes"',
    abort: true,
  })
  .refine((value) => durationProblem(value, '') === undefined, {
    error: 'must be a duration above 0: milliseconds, or a text such as "10 minutes"',
  });

const variable = z.string().refine((name) => /^[A-Za-z_]\w*$/.test(name) && !looksLikeKey(name), {
  error:
    'must be the name of an environment variable, such as "OPENAI_API_KEY"; put the secret into that variable, never into the config',
});

export function looksLikeKey(value: string): boolean {
  return /^(sk|pk|rk)[-_]|^(gsk_|xai-|ghp_|hf_)\w{12,}|^AIza[\w-]{20,}|^Bearer\s/.test(value);
}

/** Names appear in ids, task queues and lists. */
const name = z.string().regex(/^[\w][\w.:/@-]{0,99}$/, {
  error: 'is no usable name: letters, digits and . : / @ _ - only, at most 100',
});
/** A problem with a name is the same for every name, so an empty one tells it. */
const workspaceName = z.string().refine((value) => workspaceNameProblem(value) === undefined, {
  error: workspaceNameProblem(''),
});

const url = z.string().refine(isPlainUrl, {
  error:
    'must be an http or https URL without user or password, such as "https://api.openai.com/v1"',
});

function isPlainUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
}

const count = z.int('must be a whole number').min(1, 'must be at least 1');
const price = z.number().min(0, 'must not be negative');

const modelSchema = fields({
  model: text,
  baseURL: url.optional(),
  provider: text.optional(),
  apiKeyEnv: variable.optional(),
  headersEnv: z.record(z.string(), variable).optional(),
  maxOutputTokens: count.optional(),
  temperature: z.number().min(0, 'must not be negative').optional(),
  extraBody: z.record(z.string(), z.json()).optional(),
  prices: fields({
    input: price,
    output: price,
    cacheRead: price.optional(),
    cacheWrite: price.optional(),
  }).optional(),
  quirks: fields({
    systemRole: z.enum(['system', 'developer']).optional(),
    maxTokensField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
    streamOptions: z.boolean().optional(),
    thinking: z
      .enum(['reasoning_effort', 'enable_thinking', 'chat_template_kwargs', 'none'])
      .optional(),
    thinkTags: z.boolean().optional(),
    returnReasoning: z.boolean().optional(),
    emptyContent: z.enum(['null', 'empty-string']).optional(),
    toolResultName: z.boolean().optional(),
    assistantAfterToolResult: z.boolean().optional(),
    toolCallIds: z.enum(['as-is', 'nine-alphanumerics']).optional(),
    images: z.boolean().optional(),
  }).optional(),
  clocks: fields({
    firstToken: duration.optional(),
    silence: duration.optional(),
    call: duration.optional(),
  }).optional(),
});

const aFunction = z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', {
  error: 'must be a function; only a .ts, .js or .mjs config can have one',
});

const agentSchema = fields({
  systemPrompt: z.string().optional(),
  allowSystemPrompt: z.boolean().optional(),
  model: z.string().optional(),
  models: z.array(z.string()).min(1, 'must name a model; leave it out to offer all').optional(),
  thinkingLevel: z.enum(thinkingLevels).optional(),
  tools: z.array(z.string()).optional(),
  approval: z.record(z.string(), z.enum(['allow', 'ask', 'deny'])).optional(),
  hooks: fields(
    Object.fromEntries(hookNames.map((hook) => [hook, aFunction.optional()])),
  ).optional(),
});

const toolSchema = fields({
  name: z.string().regex(/^[\w-]{1,64}$/, {
    error: 'is no usable name: letters, digits, _ and - only, at most 64, as providers ask for',
  }),
  label: text.optional(),
  description: text,
  parameters: z
    .custom<object>((value) => isJsonObject(value) && !('_zod' in value), {
      error: 'must be JSON schema; with a zod schema, wrap the tool in defineTool',
    })
    .refine((value) => 'type' in value && value.type === 'object', {
      error: 'must be the JSON schema of an object: add type: "object"',
    }),
  prepareArguments: aFunction.optional(),
  executionMode: z.enum(['parallel', 'sequential']).optional(),
  effects: z.enum(['read-only', 'idempotent', 'non-idempotent']).optional(),
  timeoutMs: count.optional(),
  execute: aFunction,
});

export const configSchema = fields({
  $schema: z.string().optional(),
  models: z.record(name, modelSchema).optional(),
  agents: z.record(name, agentSchema).optional(),
  tools: z.array(toolSchema).optional(),
  mcpServers: z
    .record(z.string(), z.unknown())
    .refine((servers) => Object.keys(servers).length === 0, {
      error: 'cannot be used: this version of Holdfast has no MCP servers; remove the field',
    })
    .optional(),
  workspaces: z.record(workspaceName, fields({ root: text })).optional(),
  workspaceWait: duration.optional(),
  taskQueue: text.optional(),
  maxToolTimeout: duration.optional(),
  cacheBytes: count.optional(),
  shutdownGrace: duration.optional(),
  toolEnvironment: z.array(variable).optional(),
  workflows: text.or(z.instanceof(URL)).optional(),
  activities: z.record(name, aFunction).optional(),
});
