import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, 'guide');
const text = readFileSync(join(folder, 'README.md'), 'utf8');
const [groups = '', index = ''] = text.split('## Index of words');

function linksOf(part: string): ReadonlySet<string> {
  return new Set([...part.matchAll(/\]\(([^)#\s]+)/g)].map(([, link = '']) => link));
}

test('the groups of the guide list every page of it', () => {
  const listed = linksOf(groups.slice(groups.indexOf('## Start')));
  const pages = globSync('**/*.md', { cwd: folder }).filter((page) => page !== 'README.md');
  expect(pages.filter((page) => !listed.has(page))).toEqual([]);
});

test.each([
  'MCP',
  'RAG',
  'Runner',
  'checkpoint',
  'child workflow',
  'cron',
  'graph',
  'guardrail',
  'handoff',
  'human-in-the-loop',
  'image',
  'instructions',
  'interrupt',
  'memory',
  'plan',
  'query',
  'runtime context',
  'saga',
  'schedule',
  'signal',
  'snapshot',
  'subgraph',
  'suspend',
  'thread',
  'trace',
  'vector',
  'workflow',
  '`foreach`',
  '`generateText`',
  '`lastAgent`',
  '`streamMode`',
  '`streamText`',
])('the index of words leads from "%s" to a page', (word) => {
  const row = index.split('\n').find((line) => {
    const [, words = ''] = line.split('|');
    return words.split(',').some((each) => each.trim() === word);
  });
  expect(linksOf(row ?? '').size).toBeGreaterThan(0);
});

test('the words of the index stand in their order, each in one row', () => {
  const rows = index
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.includes('| here |'));
  const words = rows.map((row) => (row.split('|')[1] ?? '').split(',').map((word) => word.trim()));
  const first = words.map(([word = '']) => word);
  expect(first).toEqual(first.toSorted((a, b) => a.localeCompare(b, 'en')));
  expect(words.flat()).toEqual([...new Set(words.flat())]);
});
