// The tools that every worker has: bash, read, write, edit.

import type { ToolDefinition } from '../definitions.js';
import { createBashTool } from './bash.js';
import { editTool } from './edit.js';
import { readTool } from './read.js';
import { writeTool } from './write.js';

export interface BuiltInToolOptions {
  /** The longest a bash call may ask to run; the config's maximum binds as well. Default one hour. */
  readonly maxToolTimeoutMs?: number;
}

export function createBuiltInTools(options: BuiltInToolOptions = {}): readonly ToolDefinition[] {
  return [createBashTool(options.maxToolTimeoutMs ?? 60 * 60_000), readTool, writeTool, editTool];
}
