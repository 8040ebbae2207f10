import { join } from 'node:path';
import { serve } from '@adjutant/server';
import { runtime, step } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { bench } from './run-cli.ts';

const colours = ['Blue', 'Deep red'] as const;
const questions = {
  colour: z.enum(colours),
  name: z.string().min(2),
  count: z.number().int().min(3),
  isGift: z.boolean(),
  address: z.object({ street: z.string(), floor: z.number().int(), note: z.string().optional() }),
  until: z.iso.date().nullable(),
};

/** A step that asks for one thing in each session, a store of its own, and commands on both. */
async function asking() {
  const place = bench();
  const store = join(place.folder, 'shop.db');
  const order = step({
    name: 'order',
    execute: async (ctx) => {
      const key = ctx.message as keyof typeof questions;
      const answer = await ctx.ask(key, { message: `Which ${key}?`, schema: questions[key] });
      return ctx.complete({ answer });
    },
  });
  const app = runtime({ app: 'shop', store: sqlite(store), runnables: [order] });
  const { url, close } = await serve(app, { port: 0, shutdown: { graceMs: 100 } });
  onTestFinished(async () => {
    await close();
    await app.close();
  });
  let asked = 0;
  const ask = async (key: keyof typeof questions): Promise<string> => {
    const session = `s${++asked}`;
    const { pendingCalls } = await app.run(order, { session, input: key });
    return pendingCalls[0]?.requestId as string;
  };
  const given = async (): Promise<unknown> => {
    // The program that has the step takes in the answer that was left in the store.
    await app.resume(`s${asked}`);
    const { events } = await app.sessions.get(`s${asked}`);
    return events.findLast((event) => event.type === 'tool_input')?.input;
  };
  const local = ['--store', store, '--app', 'shop'];
  return { place, app, ask, given, local, server: ['--server', url] };
}

const typed: readonly [keyof typeof questions, string, unknown][] = [
  ['colour', 'Blue', 'Blue'],
  ['colour', '"Blue"', 'Blue'],
  ['colour', 'Deep red', 'Deep red'],
  ['name', 'Ann', 'Ann'],
  ['name', '42', '42'],
  ['name', '{"a":1}', '{"a":1}'],
  ['name', '"quoted"', 'quoted'],
  ['count', '5', 5],
  ['isGift', 'true', true],
  ['address', '{"street":"Main","floor":2}', { street: 'Main', floor: 2 }],
  ['until', '2026-01-31', '2026-01-31'],
  ['until', 'null', null],
];

describe('an answer is what the schema of its request takes', () => {
  for (const door of ['local', 'server'] as const) {
    test(`a text as it is, and all else as JSON, with the ${door} store`, async () => {
      const made = await asking();
      const { place, ask, given } = made;
      for (const [key, word, value] of typed) {
        const id = await ask(key);
        const answered = await place.run(['answer', id, word, '--no-continue', ...made[door]]);
        expect({ word, ...answered }).toMatchObject({ word, code: 0, stderr: expect.anything() });
        expect(await given()).toEqual(value);
      }
    });
  }
});

test('an answer that does not fit names the schema and a command that works', async () => {
  const { place, ask, local, server } = await asking();
  const refusals: [keyof typeof questions, string, string, string][] = [
    ['colour', 'Green', '"Blue", "Deep red"', 'Blue'],
    ['count', 'many', '{"type":"integer"', '3'],
    ['count', '1', '>= 3', '3'],
    ['isGift', 'Blue', '{"type":"boolean"}', 'true'],
    ['address', '{"street":"Main"', '"floor":{"type":"integer"', `'{"street":"…","floor":1}'`],
    ['address', '{"street":"Main"}', 'floor', `'{"street":"…","floor":1}'`],
  ];
  for (const [key, word, reason, example] of refusals)
    for (const door of [local, server]) {
      const id = await ask(key);
      const { code, stderr, stdout } = await place.run(['answer', id, word, ...door]);
      expect({ word, code, stdout }).toEqual({ word, code: 2, stdout: '' });
      expect(stderr).toContain(reason);
      expect(stderr).toContain(`adjutant answer ${id} ${example} ${door[0]}`);
    }
});

test('what waits is shown with commands that answer it', async () => {
  const { place, ask, local, server } = await asking();
  const shown: [keyof typeof questions, string[]][] = [
    ['colour', ['Blue', `'Deep red'`]],
    ['name', [`'……'`]],
    ['count', ['3']],
    ['isGift', ['true', 'false']],
    ['address', [`'{"street":"…","floor":1}'`]],
    ['until', ['2026-01-31']],
  ];
  for (const [index, [key, words]] of shown.entries()) {
    const id = await ask(key);
    for (const door of [local, server]) {
      const { stdout } = await place.run(['show', `s${index + 1}`, ...door]);
      const commands = stdout.split('\n').filter((line) => line.includes('adjutant answer'));
      expect(commands).toEqual(
        words.map((word) => `  adjutant answer ${id} ${word} ${door.join(' ')}`),
      );
    }
  }
});

test('a run that only sleeps is called sleeping, in lists as well', async () => {
  const { place, app, local, server } = await asking();
  const nap = step({
    name: 'nap',
    execute: async (ctx) => {
      await ctx.sleep('a day', 86_400_000);
      return ctx.complete('awake');
    },
  });
  await app.run(nap, { session: 'nap', input: 'Sleep' });
  for (const door of [local, server]) {
    const shown = await place.run(['show', 'nap', ...door]);
    expect(shown.stdout).toMatch(/^nap · sleeping · /);
    expect(shown.stdout).toMatch(/sleeps until \d{4}-/);
    const listed = await place.run(['sessions', '--status', 'sleeping', ...door]);
    expect(listed.stdout).toMatch(/^nap +sleeping /m);
  }
});

test('resume of a run that still waits shows what for, and ends', async () => {
  const { place, ask, server } = await asking();
  const id = await ask('colour');
  const resumed = await place.run(['resume', 's1', ...server]);
  expect(resumed).toMatchObject({ code: 3, stderr: '' });
  expect(resumed.stdout).toContain(`adjutant answer ${id} Blue --server`);
  const answered = await place.run(['answer', id, 'Blue', ...server]);
  expect(answered).toMatchObject({ code: 0, stdout: expect.stringContaining('{"answer":"Blue"}') });
});
