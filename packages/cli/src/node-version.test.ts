import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { refuseOldNode } from './node-version.ts';

test.each(['20.18.0', '22.12.0', '23.11.1', '18.0.0-nightly', '9.11.2'])(
  'Node %s is refused by its version',
  (version) => {
    expect(refuseOldNode(version)).toBe(
      `adjutant: Adjutant needs Node 24 or later; this is ${version}.`,
    );
  },
);

test.each(['24.0.0', '24.21.0', '26.1.0', '100.0.0', process.versions.node])(
  'Node %s is taken',
  (version) => {
    expect(refuseOldNode(version)).toBeUndefined();
  },
);

test('package.json asks for the same version', () => {
  const { engines } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  ) as { engines: { node: string } };
  const oldest = engines.node.replace('>=', '');
  expect(oldest).toMatch(/^\d+$/);
  expect(refuseOldNode('1.0.0')).toContain(`needs Node ${oldest} or later`);
});

test('nothing else is imported before the version is known', () => {
  const imports = ['main.ts', 'node-version.ts'].flatMap((file) => [
    ...readFileSync(new URL(file, import.meta.url), 'utf8').matchAll(
      /^(?:import|export) .*from '(.+)';$/gm,
    ),
  ]);
  expect(imports.map(([, path]) => path)).toEqual(['./node-version.ts']);
});
