/**
 * A store of one's own (own-store/), proved by the contract that all stores of Adjutant pass, here
 * in node:test; then an agent that is stopped at every append and goes on from its files.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { agent, runtime, tool } from 'adjutant';
import { crashPoints, roundModel, storeContract, takingOver, testClock } from 'adjutant/testing';
import { z } from 'zod';
import { fileStore, leftOut } from './own-store/file-store.ts';

const newDirectory = (): string => mkdtempSync(join(tmpdir(), 'adjutant-files-'));

const makeStore = async () => {
  const directory = newDirectory();
  const clock = testClock();
  const store = fileStore(directory, { clock });
  const cleanup = async (): Promise<void> => {
    await store.close();
    rmSync(directory, { recursive: true });
  };
  return { store, clock, cleanup };
};

await storeContract('files', makeStore, { runner: { describe, test }, skip: leftOut });

const makeBooker = () =>
  agent({
    name: 'booker',
    model: roundModel([{ toolCalls: [{ name: 'book', args: { seats: 2 } }] }, { text: 'Booked.' }]),
    tools: [
      tool({
        name: 'book',
        description: 'Books seats',
        schema: z.object({ seats: z.number() }),
        execute: ({ args }) => `${args.seats} seats`,
      }),
    ],
  });

test('an agent goes on from the files wherever its process stops', async () => {
  const directory = newDirectory();
  const store = fileStore(directory);
  // A tool that reports is not run again: what it did is unknown where the process stopped inside
  // it, so only the end is compared.
  const { points } = await crashPoints(() => ({ runnable: makeBooker(), compares: 'end' }), {
    store,
    manners: ['before', 'after'],
  });
  assert.ok(points > 4);
  await store.close();
  rmSync(directory, { recursive: true });
});

test('what was written stays, and half a line is no line', async () => {
  const directory = newDirectory();
  const first = runtime({ app: 'shop', store: fileStore(directory), recover: 'manual' });
  const { session } = await first.run(makeBooker(), { session: 's', input: 'Two seats' });
  await first.close();

  // The end of the last line is lost: the one that gave the session back. So it seems to be held
  // still, which a new process does not wait for.
  const [name = ''] = readdirSync(directory);
  const path = join(directory, name);
  truncateSync(path, statSync(path).size - 3);
  const files = fileStore(directory);
  const second = runtime({ app: 'shop', store: takingOver(files), recover: 'manual' });
  const reopened = await second.sessions.open({ id: 's' });
  assert.deepEqual(reopened.events, session.events);
  const { output } = await second.run(makeBooker(), { session: reopened, input: 'Again' });
  assert.equal(output, 'Booked.');
  await second.close();
  await files.close();
  rmSync(directory, { recursive: true });
});
