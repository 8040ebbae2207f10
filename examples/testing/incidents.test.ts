/**
 * Recorded sessions as regression tests: what the agent did then is what it does now. A file comes
 * from `adjutant export <session> -o incidents/<name>.ledger.json --redact email --redact name`; no
 * model is called, and no tool is run.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { runtime } from 'adjutant';
import { divergenceText, replayFile } from 'adjutant/replay';
import { expect, test } from 'vitest';
import { desk, deskWith } from './bookings.ts';

const files = globSync('incidents/*.ledger.json', { cwd: import.meta.dirname });

/** The app of production, without its store. */
const appWith = (agent: typeof desk) => runtime({ app: 'practice', runnables: [agent] });

test.for(files)('%s', async (file) => {
  const { divergence } = await replayFile(join(import.meta.dirname, file), appWith(desk));
  expect(divergence && divergenceText(divergence)).toBeUndefined();
});

test('other instructions are found, at the first prompt', async () => {
  const file = join(import.meta.dirname, 'incidents/fully-booked.ledger.json');
  const { divergence } = await replayFile(file, appWith(deskWith('You promise everything.')));
  expect(divergence).toMatchObject({
    kind: 'prompt',
    seq: 3,
    subject: expect.stringContaining('system prompt changed'),
  });
});
