import { join } from 'node:path';
import { agent, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { bench } from '../run-cli.ts';

const title = '\u001b]0;00000\u0007';
const hidden = '\u009b2J\u200b\u200e\u061c\u2028\u{e0041}\u2800\u202e';
const summary = `Pay 10${title} to bob${hidden}`;

/** A place with a run that waits for leave to do what `summary` says. */
async function waiting() {
  const { run, folder } = bench();
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    schema: z.object({ to: z.string() }),
    approval: { summary: () => summary },
    execute: () => 'paid',
  });
  const payer = agent({
    name: 'payer',
    model: roundModel([
      { text: `Soon.${title}`, toolCalls: [{ name: 'pay', args: { to: `bob${hidden}` } }] },
    ]),
    tools: [pay],
  });
  const store = join(folder, 'office.db');
  const app = runtime({
    app: 'office',
    store: sqlite(store),
    runnables: [payer],
    recover: 'manual',
  });
  await app.run(payer, { session: await app.sessions.create({ id: 'pays' }), input: 'Pay' });
  await app.close();
  return (args: readonly string[]) => run([...args, '--store', store, '--app', 'office']);
}

/** Characters that terminals obey, or show as nothing. */
const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

test(
  'A13: what a terminal would obey or not show is written out, so that no summary looks like ' +
    'another one',
  async () => {
    const run = await waiting();
    const outputs = await Promise.all([run(['approvals']), run(['show', 'pays'])]);
    for (const { stdout, code } of outputs) {
      expect(code).toBe(0);
      expect(stdout).not.toMatch(unseen);
      expect(stdout).not.toContain('Pay 10 to bob');
      expect(stdout).toContain(']0;00000');
    }
    expect(outputs[0].stdout).toContain('Pay 10\\u001b]0;00000\\u0007 to bob\\u009b2J\\u200b');
  },
);

test('A13: --json has no character that a terminal obeys, and is the same value', async () => {
  const run = await waiting();
  const { stdout } = await run(['approvals', '--json']);
  expect(stdout).not.toMatch(unseen);
  expect(stdout).toContain('\\u009b');
  expect(JSON.parse(stdout)).toMatchObject({ summary });
});
