// Arguments of built-in tools. They are validated against the schema before, except where a hook has
// replaced them: so each tool checks what it uses.

import type { JsonObject } from '../../protocol/json.js';

export function textArgument(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value !== 'string') throw new TypeError(`The argument ${name} must be a string.`);
  return value;
}

/** Undefined when left out. */
export function countArgument(args: JsonObject, name: string): number | undefined {
  const value = args[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1) {
    throw new TypeError(`The argument ${name} must be a whole number from 1.`);
  }
  return value;
}

export function flagArgument(args: JsonObject, name: string): boolean {
  const value = args[name];
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean')
    throw new TypeError(`The argument ${name} must be true or false.`);
  return value;
}

/** `1 byte`, `812 bytes`, `48.8 KB`, `3.1 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  const kilobytes = bytes / 1024;
  return kilobytes < 1024
    ? `${Math.round(kilobytes * 10) / 10} KB`
    : `${Math.round((kilobytes / 1024) * 10) / 10} MB`;
}

/** `1 line`, `12 lines`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
