import { parseJobCommand } from 'adjutant/scheduler';
import { expect, test } from 'vitest';
import { phrasings } from './job-commands.corpus.ts';
import { doubts, nearMisses } from './near-misses.corpus.ts';

test('the corpus has at least 220 phrasings and 80 near misses, each once', () => {
  expect(phrasings.length).toBeGreaterThanOrEqual(220);
  expect(nearMisses.length).toBeGreaterThanOrEqual(80);
  expect(new Set(phrasings.map(({ text }) => text)).size).toBe(phrasings.length);
  expect(new Set(nearMisses).size).toBe(nearMisses.length);
});

test('each phrasing of the corpus is its command', () => {
  const wrong = phrasings
    .map(({ text, command }) => ({ text, command, parsed: parseJobCommand(text) }))
    .filter(({ command, parsed }) => JSON.stringify(parsed) !== JSON.stringify(command));
  expect(wrong).toEqual([]);
});

test('no near miss is a command', () => {
  const swallowed = [...nearMisses, ...doubts]
    .map((text) => ({ text, parsed: parseJobCommand(text) }))
    .filter(({ parsed }) => parsed !== undefined);
  expect(swallowed).toEqual([]);
});
