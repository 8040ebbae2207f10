import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { server } from '@adjutant/server';
import { runtime } from 'adjutant';
import { expect, test } from 'vitest';
import { renderHttpReference } from '../../scripts/http-reference.ts';

const page = readFileSync(join(import.meta.dirname, 'http-api.md'), 'utf8');

test('the page is that of the routes as they are: npm run http-reference', () => {
  expect(page).toBe(renderHttpReference(server(runtime({ app: 'documented' })).openApi()));
});

test('every link of the page to a type leads to one', () => {
  const headings = new Set(
    [...page.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name.toLowerCase()),
  );
  const links = [...page.matchAll(/\]\(#(\w+)\)/g)].map(([, name = '']) => name);
  expect(links.length).toBeGreaterThan(30);
  expect(links.filter((name) => !headings.has(name))).toEqual([]);
});
