// What measures report and how it is printed: one table for all.

import { median, percentile } from './statistics.js';
import type { TemporalServer } from './temporal-server.js';

export type Unit = 'ms' | '×' | 'bytes' | 'MB' | 'count' | 'calls/s' | 'writes/s' | '% of a core';

/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly unit: Unit;
  readonly samples: readonly number[];
  readonly bar?: Bar;
  /** A word on what the line means. */
  readonly note?: string;
}

/** What must hold, of the median or of the 95th percentile. */
export type Bar = { readonly of: 'median' | 'p95' } & (
  | { readonly atMost: number }
  | { readonly atLeast: number }
);

export interface Report {
  readonly measure: string;
  readonly conditions: string;
  readonly rows: readonly Row[];
}

export interface Measure {
  readonly name: string;
  /** One line for `--help`. */
  readonly what: string;
  readonly run: (options: MeasureOptions) => Promise<Report>;
}

export interface MeasureOptions {
  /** Address of the Temporal server. */
  readonly address: string;
  readonly server: TemporalServer;
  /** A folder for this measure alone, removed at the end. */
  readonly folder: string;
  /** Samples; each measure has a default of its own. */
  readonly samples: number | undefined;
  readonly kills: number;
  readonly seed: number;
  /** Tells how far the measure has come. */
  readonly log: (line: string) => void;
}

export function isMet({ bar, samples }: Row): boolean | undefined {
  if (bar === undefined) return undefined;
  const value = bar.of === 'median' ? median(samples) : percentile(samples, 0.95);
  return 'atMost' in bar ? value <= bar.atMost : value >= bar.atLeast;
}

export function toTable(reports: readonly Report[]): string {
  const lines = [
    ['measure', 'what', 'median', 'p95', 'min – max', 'N', 'bar', ''],
    ...reports.flatMap(({ measure, rows }) => rows.map((row) => toCells(measure, row))),
  ];
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  );
  const table = lines.map(
    (line) => `| ${line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`,
  );
  table.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  const conditions = reports.map(({ measure, conditions: text }) => `${measure}: ${text}`);
  return `${table.join('\n')}\n\n${conditions.join('\n')}\n`;
}

function toCells(measure: string, row: Row): string[] {
  const { what, samples, unit, bar, note } = row;
  const format = (value: number) => formatValue(value, unit);
  const single = samples.length === 1;
  const met = isMet(row);
  return [
    measure,
    note === undefined ? what : `${what} (${note})`,
    format(median(samples)),
    single ? '' : format(percentile(samples, 0.95)),
    single ? '' : `${format(Math.min(...samples))} – ${format(Math.max(...samples))}`,
    String(samples.length),
    bar === undefined ? '' : barText(bar, format),
    met === undefined ? '' : met ? 'met' : 'MISSED',
  ];
}

function barText(bar: Bar, format: (value: number) => string): string {
  const limit = 'atMost' in bar ? `≤ ${format(bar.atMost)}` : `≥ ${format(bar.atLeast)}`;
  return `${bar.of} ${limit}`;
}

function formatValue(value: number, unit: Unit): string {
  if (unit === '×') return `${value.toFixed(2)} ×`;
  if (unit === 'count') return String(value);
  const isFine = unit === 'ms' || unit === 'calls/s' || unit === 'writes/s';
  const digits = isFine && Math.abs(value) < 100 ? 1 : 0;
  return `${value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))/g, ',')} ${unit}`;
}
