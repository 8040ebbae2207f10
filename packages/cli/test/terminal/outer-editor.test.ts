/** Scenario 19: the editor of the person, and that it crashes. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restoredModes } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import { keys, type Talk, takesKeys, talk } from './kit/talk.ts';

/** Lines of a program that shows the file, and the modes that the terminal has. */
const shows =
  'stty -a | grep -o " icanon"; stat -c "mode %a" "$1"; echo "$1" > "$0.seen"; cat "$1"';

/** Makes a program for VISUAL: it ends after a line of the keyboard. */
async function talkWithEditor(ends: string): Promise<Talk & { readonly editor: string }> {
  const bench = await talk({ env: { VISUAL: '"$HOME/editor" --wait', EDITOR: 'false' } });
  const editor = join(bench.folder, 'editor');
  const words = ['#!/bin/sh', '[ "$1" = --wait ] && shift', shows];
  writeFileSync(editor, [...words, 'echo is open; read line', ends, ''].join('\n'));
  chmodSync(editor, 0o700);
  return { ...bench, editor };
}

test('19 editor-round-trip-and-editor-crash: the text comes back, and nothing is sent', async () => {
  const { world, terminal, leave, ledger, editor } = await talkWithEditor('echo "$line" >> "$1"');
  terminal.paste(Array.from({ length: 12 }, (_, n) => `pasted ${n}`).join('\n'));
  await terminal.showsNow('[pasted 12 lines]');
  terminal.write(keys.ctrl('g'));
  await terminal.showsNow('is open');
  restoredModes(terminal);
  expect(terminal.screen.text).toMatch(/ icanon\nmode 600\npasted 0\n/);
  // In this terminal a line is edited by the terminal itself, and Ctrl-C is the editor's.
  terminal.write(`and more${keys.enter}`);
  await terminal.showsNow('pasted 11and more');
  await keepPicture(terminal.screen, '19-back');
  expect(existsSync(readFileSync(`${editor}.seen`, 'utf8').trim())).toBe(false);
  expect(await ledger().catch(() => [])).toEqual([]);
  world.script({ text: 'I see.' });
  terminal.write(keys.enter);
  await terminal.shows('I see.');
  expect(await leave()).toBe(0);
  const [user] = (await ledger()).filter(({ type }) => type === 'user');
  expect(user).toMatchObject({ text: expect.stringMatching(/^pasted 0\n.*pasted 11and more$/s) });
  restoredModes(terminal);
});

test('19 after a crash of the editor the text is as it was', async () => {
  const { world, terminal, leave, ledger } = await talkWithEditor(
    'echo lost > "$1"; kill -SEGV $$',
  );
  terminal.write('half a thought');
  await terminal.showsNow('› half a thought');
  terminal.write(keys.ctrl('e'));
  await terminal.showsNow('is open');
  terminal.write(keys.enter);
  await terminal.shows(/✗ The editor .*The text is as it was\./);
  await terminal.showsNow('› half a thought');
  world.script({ text: 'And the other half?' });
  terminal.write(` more${keys.enter}`);
  await terminal.shows('And the other half?');
  expect(await leave()).toBe(0);
  const users = (await ledger()).filter(({ type }) => type === 'user');
  expect(users).toMatchObject([{ text: 'half a thought more' }]);
  restoredModes(terminal);
});

test('19 the agent works on meanwhile, and Ctrl-C is the editor’s', async () => {
  const bench = await talkWithEditor(':');
  const { world, terminal, say, leave, ledger } = bench;
  say('Tell me');
  const call = await world.modelCall();
  await terminal.showsNow('Esc interrupts');
  terminal.write(keys.ctrl('g'));
  await terminal.showsNow('is open');
  call.answers({ text: 'Here it is.' });
  await waitsForEnd(bench);
  terminal.write(keys.ctrl('c'));
  await terminal.shows('Here it is.');
  await terminal.showsNow('/ commands');
  expect(await leave()).toBe(0);
  expect((await ledger()).map(({ type }) => type)).not.toContain('cancel');
});

test('19 Ctrl-G in a form gives all of it as JSON', async () => {
  const { world, terminal, say, leave, ledger } = await talkWithEditor('echo "$line" > "$1"');
  world.result('refund', 'paid');
  world.script({ calls: [{ name: 'refund', args: { order: 17, cents: 51 } }] }, { text: 'Paid.' });
  say('Pay it back');
  await takesKeys(terminal);
  terminal.write('e');
  await terminal.showsNow('^G as JSON');
  terminal.write(keys.ctrl('g'));
  await terminal.showsNow('is open');
  expect(terminal.screen.text).toContain('  "cents": 51');
  terminal.write(`{"order": 17, "cents": 9900}${keys.enter}`);
  await terminal.showsNow(/cents \* +9900/);
  terminal.write(keys.altEnter);
  await terminal.showsNow('must be ≤ 5000: 9900');
  expect((await ledger()).filter(({ type }) => type === 'tool_input')).toEqual([]);
  terminal.write(keys.ctrl('g'));
  // Anything with a fault is left out.
  await terminal.showsNow(/"order": 17\n\}\nis open/);
  terminal.write(`{"order": 17, "cents": 99}${keys.enter}`);
  await terminal.showsNow(/cents \* +99$/m);
  terminal.write(keys.altEnter);
  await terminal.shows('Paid.');
  expect(await leave()).toBe(0);
  expect((await ledger()).filter(({ type }) => type === 'tool_input')).toMatchObject([
    { decision: 'edit', input: { order: 17, cents: 99 } },
  ]);
});

test('19 without an editor it says how to set one', async () => {
  const { terminal, leave } = await talk({ env: { EDITOR: '' } });
  terminal.write(`a plan${keys.ctrl('g')}`);
  await terminal.shows('✗ No editor is set. Put its command into VISUAL or EDITOR');
  expect(terminal.screen.text).toContain('› a plan');
  expect(await leave()).toBe(0);
});

/** Waits until the run has ended, by the ledger: the app has no screen then. */
async function waitsForEnd({ beside, sessions }: Talk): Promise<void> {
  const [id = ''] = await sessions();
  await beside(async (app) => {
    for await (const event of app.follow(id)) if (event.type === 'invocation_end') return;
  });
}
