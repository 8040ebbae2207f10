import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readManifest, repositoryRoot } from './source-tree.ts';

const entries = readManifest('packages/core').entries;

test('tests run on the pinned Node', () => {
  expect(Number.parseInt(process.versions.node, 10)).toBe(24);
});

test("importing 'adjutant' in a test gives the source, so that no test needs a build", async () => {
  expect(fileURLToPath(import.meta.resolve('adjutant'))).toBe(
    `${repositoryRoot}packages/core/src/index.ts`,
  );
  expect(await import('adjutant')).toBe(await import('../../src/index.ts'));
});

test('every export names a source file', () => {
  expect(entries).toContain('packages/core/src/index.ts');
  for (const entry of entries) expect(entry).toMatch(/^packages\/core\/src\/.+\.ts$/);
});
