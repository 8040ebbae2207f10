/** Scenario 38: texts from outside that terminals would obey, wherever they are shown. */
import type { Event } from 'adjutant';
import { expect, test } from 'vitest';
import { clearedNothing, keptLastColumnFree, restoredModes } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import type { PseudoTerminal } from './kit/pseudo-terminal.ts';
import { keys, takesKeys, talk } from './kit/talk.ts';

/** Texts that terminals obey, hide, or show as something else. */
const hostile = [
  ...['\u001B[5;41mblinks', '\u001B]0;owned\u0007', '\u001B]52;c;ZXZpbA==\u0007', '\u001B[2J'],
  ...['\u001B]8;;http://evil.example\u001B\\click\u001B]8;;\u001B\\', '\u001B[?1049h', '\u001B[6n'],
  ...['\u009B5m', '\u009D0;owned\u009C', '\u001BPq\u001B\\', '\u001B_G\u001B\\', '\u001Bc', '\b\b'],
  ...['\u0007', '\u0000', '\u007F', '\u000E', '\u202Elive\u202C', '\u2066x\u2069', 'a\u200Bb'],
  ...['\u2028', '\u2029', '\uFEFF', '\u{E0041}', '\u00AD', `e${'\u0301'.repeat(30)}`, '\u3164'],
].join(' ');

/** Sequences that the app writes itself; none of them is part of the corpus. */
const own = new RegExp(
  [
    String.raw`\u001b\[\d*[ABCDEFGJK]`,
    String.raw`\u001b\[(?:\d|2\d|3[0-79]|9[0-7])m`,
    String.raw`\u001b\[\?(?:25|2004|2026)[hl]`,
    String.raw`\u001b\[2[23];0t`,
    String.raw`\u001b\[[<>?]\d*u`,
    String.raw`\u001b\]0;coder: [a-z ]+\u0007`,
  ].join('|'),
  'g',
);

/** Checks every byte of a program: what is no text is a sequence of its own. */
function wroteNothingOfTheCorpus(terminal: PseudoTerminal): void {
  const { raw, screen } = terminal;
  expect(screen.whole).toContain('␛[2J');
  const rest = raw.replaceAll(own, '').replaceAll(/[\r\n]/g, '');
  const control = /.{0,40}[\p{Cc}].{0,40}/u.exec(rest);
  expect(control === null ? '' : JSON.stringify(control[0])).toBe('');
  const hidden = /.{0,20}[\u200B\u202A-\u202E\u2060-\u2069\u2028\u2029\uFEFF\u00AD\u3164]/.exec(
    raw,
  );
  expect(hidden === null ? '' : JSON.stringify(hidden[0])).toBe('');
  expect(raw).not.toMatch(/[\u{E0000}-\u{E0FFF}]/u);
  expect(raw).not.toMatch(/\p{M}{5}/u);
  expect(raw).not.toContain('\u001B]8');
  clearedNothing(terminal);
}

function textsOf(events: readonly Event[], type: 'user' | 'assistant'): readonly unknown[] {
  return events.flatMap((event) => (event.type === type ? [event.text] : []));
}

test('38 hostile-text-corpus-writes-no-control-byte-and-no-link', async () => {
  const { world, terminal, leave, ledger, start } = await talk({
    size: { columns: 100, rows: 40 },
  });
  const link =
    '[https://good.example](http://evil.example) <b>bold</b> ![image](http://evil.example)';
  terminal.paste(hostile);
  await terminal.showsNow('blinks');
  await keepPicture(terminal.screen, '38-composer');
  terminal.write(keys.enter);
  const call = await world.modelCall();
  call.thinks(`thought ${hostile}`);
  await terminal.showsNow('thinking thought');
  call.says(`# ${hostile}\n\n- ${hostile}\n\n\`\`\`\n${hostile}\n\`\`\`\n\n${link}\n\n`);
  call.calls('runTests', { path: hostile });
  call.calls('readFile', { path: 'a' });
  call.calls('sendMail', { to: hostile, subject: hostile });
  call.ends();
  const run = await world.toolCall('runTests');
  run.progress(hostile);
  const read = await world.toolCall('readFile');
  read.returns(hostile);
  run.fails(`${hostile}\n${hostile}`);
  await terminal.showsNow('wants to call sendMail');
  await takesKeys(terminal);
  await keepPicture(terminal.screen, '38-request');
  world.result('sendMail', hostile);
  terminal.write('y');
  (await world.modelCall()).fails({ message: hostile, status: 400 });
  await terminal.shows('✗ The run failed');
  for (const command of ['/show all', '/show 2', '/explain', '/status', '/cost']) {
    const { length } = terminal.screen.whole;
    terminal.write(`${command}${keys.enter}`);
    await terminal.until(`what ${command} prints`, ({ whole, text }) => {
      return whole.length > length && text.includes('› Ask coder something');
    });
  }
  expect(terminal.screen.whole).toContain('https://good.example (http://evil.example/)');
  expect(await leave()).toBe(0);
  keptLastColumnFree(terminal);
  wroteNothingOfTheCorpus(terminal);
  restoredModes(terminal);
  const events = await ledger();
  // Nothing of it is lost, either.
  expect(textsOf(events, 'user')).toEqual([hostile]);
  expect(textsOf(events, 'assistant')).toEqual([expect.stringContaining(hostile)]);

  const again = start({ args: ['chat', '--session', 'last'], size: { columns: 60, rows: 20 } });
  await again.showsNow('/ commands');
  await keepPicture(again.screen, '38-opened-again');
  again.write(`/sessions${keys.enter}`);
  await again.showsNow('Enter open');
  await keepPicture(again.screen, '38-sessions');
  again.write(keys.escape);
  await again.hides('Enter open');
  again.write(keys.ctrl('d'));
  expect(await again.exited).toBe(0);
  wroteNothingOfTheCorpus(again);
});
