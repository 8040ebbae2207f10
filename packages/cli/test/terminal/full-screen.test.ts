/** Scenarios 7, 36 and 37: views of the whole screen. */
import { expect, test } from 'vitest';
import { clearedNothing, keptLastColumnFree, restoredModes } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import type { PseudoTerminal } from './kit/pseudo-terminal.ts';
import { keys, type Talk, takesKeys, talk } from './kit/talk.ts';

const sizes = [
  { columns: 80, rows: 24 },
  { columns: 60, rows: 20 },
  { columns: 120, rows: 30 },
  { columns: 200, rows: 50 },
];

/** Closes a view, and waits until the app is back. */
async function back(terminal: PseudoTerminal): Promise<void> {
  terminal.write('q');
  await terminal.until('the app', ({ isAlternate }) => !isAlternate);
}

/** A talk with calls: one that fails with a long output, and an edit that was allowed. */
async function work(size = sizes[0]): Promise<Talk> {
  const one = await talk(size === undefined ? {} : { size });
  const { world, terminal, say } = one;
  const lines = (name: string): string =>
    Array.from({ length: 218 }, (_, n) => `line ${n + 1} of ${name}`).join('\n');
  world.result('readFile', lines('the file'));
  world.result('editFile', 'edited');
  world.script(
    {
      thought: 'The helper is used twice; run one test first.',
      calls: [{ name: 'readFile', args: { path: 'src/money.ts' } }],
    },
    { calls: [{ name: 'runTests', args: { path: 'test/checkout.test.ts' } }] },
    {
      text: 'I mend it.',
      calls: [{ name: 'editFile', args: { path: 'src/money.ts', oldText: 'a', newText: 'b' } }],
    },
    { text: 'Done: cents are rounded half up.' },
  );
  say('Why does the checkout test fail?');
  (await world.toolCall('runTests')).fails(lines('the output'));
  await terminal.showsNow('coder wants to call editFile');
  await takesKeys(terminal);
  terminal.write('y');
  await terminal.shows('Done: cents are rounded half up.');
  await terminal.showsNow('/ commands');
  return one;
}

test.for(sizes)('7 long-output-cut-then-whole at $columns', async (size) => {
  const { terminal, leave } = await work(size);
  expect(terminal.screen.whole).toMatch(/│ … \d+ more lines · \^O whole · \/show \d+/);
  terminal.write(keys.ctrl('o'));
  await terminal.until('the viewer', ({ isAlternate }) => isAlternate);
  await terminal.showsNow(/tool_result · editFile/);
  terminal.write(keys.ctrl('o'));
  await terminal.showsNow(/tool_result · runTests · tool_error · /);
  await terminal.showsNow('2 line 2 of the output');
  await keepPicture(terminal.screen, `5-viewer-${size.columns}`);
  terminal.write(keys.ctrl('o'));
  await terminal.showsNow(/tool_result · readFile · success · /);
  terminal.write('/line 200');
  terminal.write(keys.enter);
  await terminal.showsNow('200 line 200 of the file');
  keptLastColumnFree(terminal);
  terminal.write('y');
  await terminal.showsNow('copied');
  const [, copied = ''] = /]52;c;([A-Za-z0-9+/=]*)/.exec(terminal.raw) ?? [];
  const text = Buffer.from(copied, 'base64').toString();
  expect(text.split('\n')).toHaveLength(218);
  terminal.write('p');
  await back(terminal);
  await terminal.shows('line 100 of the file');
  expect(terminal.screen.whole.match(/line 100 of the file/g)).toHaveLength(1);
  expect(terminal.screen.whole.match(/I mend it\./g)).toHaveLength(1);
  expect(await leave()).toBe(0);
  clearedNothing(terminal);
  restoredModes(terminal);
});

test.for(sizes)('36 trace-modes-prompt-and-scrub at $columns', async (size) => {
  const { terminal, leave } = await work(size);
  terminal.write(keys.ctrl('x'));
  await terminal.showsNow('[d] debug');
  await keepPicture(terminal.screen, `25-trace-${size.columns}`);
  terminal.write('{');
  await terminal.showsNow(/› .*run of coder/);
  terminal.write('!');
  await terminal.showsNow(/› .*runTests/);
  await keepPicture(terminal.screen, `25-trace-trouble-${size.columns}`);
  terminal.write('p');
  await terminal.showsNow('model_start');
  await terminal.showsNow('prefix kept');
  await keepPicture(terminal.screen, `26-prompt-${size.columns}`);
  terminal.write('q');
  await terminal.showsNow('[d] debug');
  terminal.write('c');
  await terminal.showsNow('[c] content');
  await keepPicture(terminal.screen, `27-content-${size.columns}`);
  terminal.write('l');
  await terminal.showsNow('[l] log');
  await keepPicture(terminal.screen, `27-log-${size.columns}`);
  terminal.write('d');
  terminal.write('s');
  await terminal.showsNow('scrub');
  await terminal.showsNow('budget');
  await keepPicture(terminal.screen, `28-scrub-${size.columns}`);
  terminal.write('q');
  await terminal.showsNow('[d] debug');
  keptLastColumnFree(terminal);
  await back(terminal);
  expect(await leave()).toBe(0);
  restoredModes(terminal);
});

test('27 what is logged meanwhile is in the log, and nowhere on the screen', async () => {
  const { world, terminal, say, leave } = await talk();
  world.script({ calls: [{ name: 'runTests', args: { path: 'a' } }] }, { text: 'Done.' });
  say('Run it');
  const call = await world.toolCall('runTests');
  const pino = { level: 40, time: Date.now(), name: 'shop', msg: 'slow query', table: 'orders' };
  call.logs(JSON.stringify(pino));
  call.logs('plainly \u001B[2J said');
  await terminal.showsNow('runTests a');
  terminal.write(keys.ctrl('x'));
  await terminal.showsNow('live');
  terminal.write('l');
  await terminal.showsNow(/WARN +shop +slow query {"table":"orders"} +(?:beside|after) #\d+/);
  await terminal.showsNow(/INFO +plainly ␛\[2J said/);
  terminal.write('d');
  await terminal.showsNow(/runTests a {2}…/);
  call.returns('ok');
  // The view goes on with the run.
  await terminal.showsNow(/› .*completed/);
  await terminal.hides('live');
  await back(terminal);
  await terminal.shows('Done.');
  expect(terminal.screen.whole).not.toContain('plainly');
  expect(await leave()).toBe(0);
  clearedNothing(terminal);
});

test('6 a request is looked at as a whole, and is still there afterwards', async () => {
  const { world, terminal, say, leave } = await talk();
  const newText = Array.from({ length: 60 }, (_, n) => `new line ${n + 1}`).join('\n');
  const args = { path: 'src/money.ts', oldText: 'a', newText };
  world.result('editFile', 'edited');
  world.script({ calls: [{ name: 'editFile', args }] }, { text: 'Done.' });
  say('Edit it');
  await terminal.showsNow('coder wants to call editFile');
  await takesKeys(terminal);
  terminal.write(keys.ctrl('o'));
  await terminal.showsNow(/^#\d+ approval · editFile/);
  await terminal.showsNow('1 waits: q');
  terminal.write('y');
  await terminal.showsNow('copied');
  await back(terminal);
  await takesKeys(terminal);
  terminal.write('y');
  await terminal.shows('Done.');
  expect(await leave()).toBe(0);
});

test('40 ascii: views of the whole screen have signs that every terminal shows', async () => {
  const { world, terminal, say, leave } = await talk({ args: ['chat', '--ascii'] });
  world.result('readFile', 'a\nb');
  world.script({ calls: [{ name: 'readFile', args: { path: 'a.ts' } }] }, { text: 'Done.' });
  say('Read it');
  await terminal.shows('Done.');
  for (const [typed, shown] of [
    [keys.ctrl('x'), '[d] debug'],
    ['p', 'prefix kept'],
    ['=', '+ tool readFile'],
    ['q', '[d] debug'],
    ['c', '[c] content'],
    ['l', '[l] log'],
    ['ds', 'budget'],
    ['q/user', '/user_'],
    [keys.enter, '- q back'],
    [keys.enter, 'lines 1'],
  ] as const) {
    terminal.write(typed);
    await terminal.showsNow(shown);
    expect(terminal.screen.text).toMatch(/^[\n -~]*$/);
    keptLastColumnFree(terminal);
  }
  terminal.write('q');
  await terminal.showsNow('[d] debug');
  await back(terminal);
  expect(await leave()).toBe(0);
});
