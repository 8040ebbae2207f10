import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { usualRates } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { simulationRules } from '../../../src/testing/simulation/report/simulation-rules.ts';

const guide = readFileSync(
  join(import.meta.dirname, '../../../../../docs/guide/simulation.md'),
  'utf8',
);

/** Names in the first column of the tables. */
const named = guide
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));

test('the guide names all rules and all kinds of faults', () => {
  expect(named).toEqual(expect.arrayContaining([...simulationRules, ...Object.keys(usualRates)]));
});
