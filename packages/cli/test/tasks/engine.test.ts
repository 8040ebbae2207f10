import { expect, test } from 'vitest';
import { bench } from '../run-cli.ts';

test.each(['worker', 'serve'])('%s says which package Temporal needs', async (command) => {
  const place = bench();
  const { code, stderr } = await place.run([command, '--engine', 'temporal'], {
    cwd: place.folder,
  });
  expect(code).toBe(2);
  expect(stderr).toContain(
    '--engine temporal needs the package "@adjutant/temporal". Install it: npm install ' +
      '@adjutant/temporal',
  );
});

test.each<[string[], string]>([
  [['worker', '--engine', 'temporary'], 'Allowed choices are embedded, temporal'],
  [['serve', '--engine', ''], 'Allowed choices are embedded, temporal'],
  [['worker', '--temporal-address', 'a:1'], '--temporal-address is for --engine temporal'],
  [
    ['serve', '--engine', 'embedded', '--temporal-namespace', 'a'],
    '--temporal-namespace is for --engine temporal',
  ],
  [['serve', '--temporal-queue', 'a'], '--temporal-queue is for --engine temporal'],
  [['worker', '--engine', 'temporal', '--temporal-queue', ' '], 'It is empty'],
])('%s is refused', async (args, words) => {
  const place = bench();
  const { code, stderr } = await place.run(args, { cwd: place.folder });
  expect(code).toBe(2);
  expect(stderr).toContain(words);
});
