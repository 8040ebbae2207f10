/**
 * The session that the README shows. `ADJUTANT_PICTURES=1 npm run test:terminal` records it anew;
 * the test holds the recorded one against the app of today.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../run-cli.ts';
import { bothThemes } from './kit/picture.ts';
import { Recording } from './kit/recording.ts';
import { screenOf } from './kit/screen.ts';
import { keys, takesKeys, talk } from './kit/talk.ts';

const xterm = createRequire(import.meta.url)('@xterm/headless') as typeof import('@xterm/headless');

const size = { columns: 84, rows: 26 };
const pictures = join(repositoryRoot, 'docs/pictures');
const castFile = join(pictures, 'terminal-app.cast');
const read = (path: string) => ({ name: 'readFile', args: { path } });
const search = (pattern: string) => ({ name: 'searchFiles', args: { pattern } });
const looking = [
  read('test/checkout.test.ts'),
  read('src/refunds.ts'),
  search('roundCents'),
  search('Math.round'),
];
const edit = {
  name: 'editFile',
  args: {
    path: 'src/money.ts',
    oldText: '  return Math.round(value * 100) / 100;',
    newText: '  return Math.floor(value * 100 + 0.5) / 100;',
  },
};
const runTests = { name: 'runTests', args: { path: 'test/checkout.test.ts' } };

/** Leaves out all that differs from one recording to the next: ids and times. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/session_\w+/g, 'session_id')
    .replaceAll(/…\w{6}/g, '…id')
    .replaceAll(/\d+(?:\.\d+)? (?:ms|s)\b/g, 'time')
    .replaceAll(/\d\d:\d\d/g, 'time')
    .replaceAll(/ {2,}/g, '  ');
}

/** The texts of a screen on which a cast was played, with its scrollback. */
async function played(cast: string): Promise<string> {
  const terminal = new xterm.Terminal({
    cols: size.columns,
    rows: size.rows,
    allowProposedApi: true,
  });
  for (const line of cast.trimEnd().split('\n').slice(1)) {
    const [, , text] = JSON.parse(line) as [number, string, string];
    await new Promise<void>((resolve) => terminal.write(text, resolve));
  }
  return screenOf(terminal).whole;
}

test('the recorded session of the README is what the app shows today', async () => {
  const { world, terminal, leave } = await talk({ size });
  const recording = new Recording(terminal, size);
  world.result('readFile', 'export function roundCents(value: number): number {\n  …');
  world.result('searchFiles', 'src/money.ts:12\nsrc/refunds.ts:40');
  recording.take(1);
  const question = 'Why does the checkout test fail?';
  let typed = '';
  for (const letters of question.match(/.{1,4}/g) ?? []) {
    terminal.write(letters);
    typed += letters;
    await terminal.showsNow(typed.trimEnd());
    recording.take(0.16);
  }
  world.script({ calls: [read('src/money.ts')] }, { calls: looking });
  terminal.write(keys.enter);
  const first = await world.modelCall();
  await terminal.shows('4 calls');
  recording.take(1.4);
  first.says('The helper rounds **half down** for values such as `1.005`: ');
  await terminal.showsNow('half down');
  recording.take(0.8);
  first.says('in binary it is a little less than it looks.\n\nI change one line.');
  await terminal.showsNow('I change one line.');
  recording.take(1);
  first.calls(edit.name, edit.args);
  first.ends();
  await takesKeys(terminal);
  recording.take(2.5);
  terminal.write('y');
  const changing = await world.toolCall('editFile');
  changing.returns('changed');
  const second = await world.modelCall();
  await terminal.shows('allowed by you');
  recording.take(1.2);
  second.calls(runTests.name, runTests.args);
  second.ends();
  const running = await world.toolCall('runTests');
  running.progress('14 of 15 passed');
  await terminal.showsNow('14 of 15 passed');
  recording.take(1.2);
  running.returns('15 passed');
  const third = await world.modelCall();
  third.says('All **15 tests** pass now.');
  third.ends();
  await terminal.shows('15 tests');
  await terminal.showsNow('/ commands');
  recording.take(2);
  expect(await leave()).toBe(0);
  recording.take(0);
  if (process.env['ADJUTANT_PICTURES'] === '1') {
    mkdirSync(pictures, { recursive: true });
    writeFileSync(castFile, recording.cast);
    for (const theme of bothThemes)
      writeFileSync(join(pictures, `terminal-app-${theme}.svg`), recording.animation(theme));
  }
  const kept = await played(readFileSync(castFile, 'utf8'));
  expect(withoutChance(kept)).toBe(withoutChance(await played(recording.cast)));
});
