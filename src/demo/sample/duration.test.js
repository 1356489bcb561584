import assert from 'node:assert/strict';
import test from 'node:test';
import { formatDuration } from './duration.js';

test('seconds', () => assert.equal(formatDuration(59), '59s'));

test('minutes and seconds', () => assert.equal(formatDuration(90), '1m 30s'));

test('hours, minutes and seconds', () => assert.equal(formatDuration(3725), '1h 2m 5s'));
