// Durations as people write them: milliseconds, or a number and a unit as in `30 minutes`.

import { describe } from './text.js';

const unitMs: { readonly [unit: string]: number } = {
  ms: 1,
  millisecond: 1,
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
};

function parse(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$/i.exec(value);
  const unit = match?.[2]?.toLowerCase() ?? '';
  const factor = Object.hasOwn(unitMs, unit)
    ? unitMs[unit]
    : unit.length > 3 && unit.endsWith('s') && Object.hasOwn(unitMs, unit.slice(0, -1))
      ? unitMs[unit.slice(0, -1)]
      : undefined;
  return match === null || factor === undefined ? undefined : Number(match[1]) * factor;
}

/** Why a value is no duration above 0 and up to ten years; undefined when it is one. */
export function durationProblem(value: unknown, at: string): string | undefined {
  const ms = parse(value);
  return ms !== undefined && Number.isFinite(ms) && ms >= 1 && ms <= 10 * 366 * 86_400_000
    ? undefined
    : `${at}: expected milliseconds or a text like "30 minutes", got ${describe(value)}.`;
}

/** Milliseconds of a checked duration. */
export function toMilliseconds(value: string | number): number {
  return Math.round(parse(value) ?? 0);
}

/** `10 minutes`, `90 seconds`, `1 hour`: in the largest unit that gives a whole number. */
export function toDurationText(ms: number): string {
  for (const unit of ['day', 'hour', 'minute', 'second']) {
    const count = ms / (unitMs[unit] ?? 1);
    if (count >= 1 && Number.isInteger(count)) return `${count} ${unit}${count === 1 ? '' : 's'}`;
  }
  return `${ms} ms`;
}
