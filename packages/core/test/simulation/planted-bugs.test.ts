import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { expect, test } from 'vitest';
import { plantedBugs } from './planted-bugs.ts';
import { sourceUrl, withBug } from './planted-source.ts';

test.each(plantedBugs)('the text of the bug $name is in its file once', (bug) => {
  const text = readFileSync(new URL(sourceUrl(bug)), 'utf8');
  const planted = withBug(bug, text);
  expect(planted).not.toBe(text);
  expect(() => stripTypeScriptTypes(planted)).not.toThrow();
});

test('planted bugs have names of their own', () => {
  expect(new Set(plantedBugs.map(({ name }) => name)).size).toBe(plantedBugs.length);
});

test('a text that is gone is refused', () => {
  const bug = { name: 'gone', about: '', file: 'x.ts', find: 'gone', replace: '' };
  expect(() => withBug(bug, 'other')).toThrow('occurs 0 times');
  expect(() => withBug(bug, 'gone gone')).toThrow('occurs 2 times');
});
