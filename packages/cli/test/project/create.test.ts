import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bench, repositoryRoot } from '../run-cli.ts';

test('create-adjutant is `adjutant init`, with its arguments and its exit codes', async () => {
  const { start, folder } = bench();
  const program = join(repositoryRoot, 'packages/create-adjutant/src/main.ts');
  const made = start(['shop', '--no-install'], { program, cwd: folder });
  expect(await made.finished).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('✓ wrote 11 files'),
    stderr: '',
  });
  expect(existsSync(join(folder, 'shop/package.json'))).toBe(true);
  const again = start(['shop', '--no-install'], { program, cwd: folder });
  expect(await again.finished).toMatchObject({ code: 2 });
});
