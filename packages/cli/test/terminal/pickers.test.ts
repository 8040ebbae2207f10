import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clearedNothing, keptLastColumnFree } from './kit/byte-checks.ts';
import { keys, type Talk, talk } from './kit/talk.ts';

/** Texts that people said in a session, oldest first. */
async function saidIn(
  { ledger }: Talk,
  session?: string,
): Promise<readonly (string | undefined)[]> {
  const events = await ledger(session);
  return events.flatMap((event) => (event.type === 'user' ? [event.text] : []));
}

/** Has two sessions: the first one about a rounding, the open one about refunds. */
async function twoSessions(): Promise<Talk> {
  const one = await talk();
  one.world.script({ text: 'It rounds down.' }, { text: 'Refunds take a week.' });
  one.say('Why is the rounding wrong?');
  await one.terminal.shows('It rounds down.');
  await one.terminal.showsNow('/ commands');
  one.say('/new');
  await one.terminal.until('a second session', ({ allLines }) => {
    return allLines.filter((line) => line.startsWith('new session')).length === 2;
  });
  one.say('How long do refunds take?');
  await one.terminal.shows('Refunds take a week.');
  await one.terminal.showsNow('/ commands');
  return one;
}

test('a session is chosen by what is typed, and opened', async () => {
  const one = await twoSessions();
  const { terminal, say, leave } = one;
  say('/sessions');
  await terminal.showsNow('this folder (2) · Tab: all');
  await terminal.showsNow('Enter open · → more: fork, export, delete (asks) · Esc back');
  terminal.write('roundng');
  await terminal.showsNow('1 of 2');
  terminal.write(keys.enter);
  await terminal.shows(/session …\w{6} "Why is the rounding wrong\?" · \d+ events/);
  // The command that is printed last is as long as the path of the program.
  keptLastColumnFree(terminal);
  expect(await leave()).toBe(0);
  clearedNothing(terminal);
});

test('a session is deleted only when that was confirmed, and exported into a file', async () => {
  const one = await twoSessions();
  const { terminal, say, leave, sessions, folder } = one;
  const [open, other] = await sessions();
  const more = async (words: string): Promise<void> => {
    say('/sessions');
    await terminal.showsNow('this folder (2)');
    terminal.write(`rounding${keys.right}`);
    await terminal.showsNow('Delete it for good');
    terminal.write(`${words}${keys.enter}`);
  };
  await more('delete');
  await terminal.showsNow('No, keep it');
  terminal.write(keys.enter);
  await terminal.hides('No, keep it');
  await terminal.showsNow('/ commands');
  expect(await sessions()).toEqual([open, other]);
  await more('delete');
  await terminal.showsNow('Yes, delete it');
  terminal.write(`yes${keys.enter}`);
  await terminal.shows('is deleted.');
  expect(await sessions()).toEqual([open]);
  const file = join(folder, 'kept.json');
  say(`/export ${file}`);
  await terminal.shows('The session is in');
  expect(existsSync(file)).toBe(true);
  expect(await leave()).toBe(0);
});

test('the palette finds sessions, commands and requests', async () => {
  const one = await twoSessions();
  const { terminal, say, leave, world } = one;
  const [open] = await one.sessions();
  terminal.write(keys.ctrl('p'));
  await terminal.showsNow('/help  keys and commands');
  terminal.write('rounding');
  await terminal.showsNow('Session "Why is the rounding wrong?"');
  terminal.write(`${keys.ctrl('u')}cost`);
  await terminal.showsNow('/cost  rounds, tokens and dollars');
  terminal.write(keys.enter);
  await terminal.shows('its price is not known');
  world.script({ calls: [{ name: 'sendMail', args: { to: 'anna', subject: 'Refund' } }] });
  say('Tell Anna');
  await terminal.showsNow('coder wants to call');
  terminal.write(`${keys.escape}`);
  await terminal.showsNow('Tab: answer');
  terminal.write(keys.ctrl('p'));
  await terminal.showsNow('Answer  ');
  terminal.write(`answer${keys.enter}`);
  await terminal.showsNow('Tab: message');
  world.script({ text: 'I did not mail.' });
  await terminal.until('keys that act', ({ lines, top, cells }) => {
    const row = lines.findIndex((line) => line.includes('Tab: message'));
    return row !== -1 && cells(top + row)[2]?.bold === true;
  });
  terminal.write('n');
  await terminal.showsNow('Why?');
  terminal.write(keys.enter);
  await terminal.shows('I did not mail.');
  expect(await leave()).toBe(0);
  expect((await one.ledger(open)).filter(({ type }) => type === 'tool_input')).toHaveLength(1);
});

test('Esc twice goes back to before a message, and its text can be changed', async () => {
  const one = await talk();
  const { terminal, say, world, leave, sessions } = one;
  world.script({ text: 'Four.' }, { text: 'Nine.' }, { text: 'Sixteen.' });
  say('Two squared');
  await terminal.shows('Four.');
  say('Three squared');
  await terminal.shows('Nine.');
  await terminal.showsNow('/ commands');
  const [before] = await sessions();
  terminal.write(keys.escape);
  terminal.write(keys.escape);
  await terminal.showsNow('go back before');
  terminal.write(keys.enter);
  await terminal.shows('A fork of');
  await terminal.showsNow('› Three squared');
  terminal.write(`${keys.ctrl('u')}Four squared${keys.enter}`);
  await terminal.shows('Sixteen.');
  expect(await leave()).toBe(0);
  const [fork] = await sessions();
  expect(fork).not.toBe(before);
  expect(await saidIn(one, fork)).toEqual(['Two squared', 'Four squared']);
  expect(await saidIn(one, before)).toEqual(['Two squared', 'Three squared']);
});

test('a failed run is asked again, and the last answer is copied', async () => {
  const one = await talk();
  const { terminal, say, world, leave, ledger } = one;
  world.script({ error: { message: 'invalid key', status: 401 } });
  say('Hello');
  await terminal.shows('The run failed');
  world.script({ text: 'Hello to you.' });
  say('/retry');
  await terminal.shows('Hello to you.');
  await terminal.showsNow('/ commands');
  say('/retry');
  await terminal.shows('Nothing failed.');
  say('/copy');
  await terminal.shows(/Copied the answer #\d+, 13 characters\./);
  const bytes = `\u001B]52;c;${Buffer.from('Hello to you.').toString('base64')}\u0007`;
  expect(terminal.raw).toContain(bytes);
  say('/copy 7');
  await terminal.shows('There is no answer 7: there are 1.');
  expect(await leave()).toBe(0);
  expect((await ledger()).map(({ type }) => type)).toContain('invocation_reopen');
});

test('a question is answered in words, which are shown before they count', async () => {
  const one = await talk();
  const { terminal, say, world, leave, ledger } = one;
  world.script({ calls: [{ name: 'book', args: { flight: 'LH1' } }] }, { text: 'Booked.' });
  say('Book it');
  await terminal.showsNow('Alt-Enter send');
  terminal.write(keys.escape);
  await terminal.hides('Alt-Enter send');
  say('/answer {"name":"Ada","born":"1815-12-10"}');
  await terminal.showsNow('Yes, that is the answer');
  terminal.write(keys.enter);
  await terminal.shows('Booked.');
  expect(await leave()).toBe(0);
  const [input] = (await ledger()).filter(({ type }) => type === 'tool_input');
  expect(input).toMatchObject({ input: { name: 'Ada', born: '1815-12-10' } });
});

test('another model is chosen for a session, which remembers it', async () => {
  const one = await talk();
  const { terminal, say, world, leave, ledger, start } = one;
  say('/model opnai:gpt-5');
  await terminal.shows('"opnai" is not a provider. Did you');
  say('/model openai:gpt-5');
  await terminal.shows('gpt-5 needs credentials. Set');
  say('/model');
  await terminal.showsNow(/scripted:world +of this app only · now/);
  await terminal.showsNow(/openai:gpt-5-mini +no key: OPENAI_API_KEY/);
  terminal.write(`rehearsal${keys.enter}`);
  await terminal.shows('coder thinks with rehearsal');
  say('Hello');
  await terminal.shows('rehearsal model');
  expect(await leave()).toBe(0);
  const [session] = await one.sessions();
  const again = start({ args: ['chat', '--session', session ?? ''] });
  await again.shows(/agent coder .* rehearsal/);
  again.write(`/model scripted:world${keys.enter}`);
  await again.shows('coder thinks with scripted:world');
  world.script({ text: 'I am back.' });
  again.write(`And now?${keys.enter}`);
  await again.shows('I am back.');
  await again.showsNow('/ commands');
  again.write(keys.ctrl('d'));
  expect(await again.exited).toBe(0);
  const models = (await ledger()).flatMap((event) =>
    event.type === 'model_start' ? [event.model] : [],
  );
  expect(models).toEqual(['rehearsal:rules', 'scripted:world']);
});

test('what there is nothing for says so', async () => {
  const { world, terminal, say } = await talk();
  say('/copy');
  await terminal.showsNow('✗ There is no answer yet.');
  world.script({ text: 'Hello.' });
  say('Hi');
  await terminal.shows('Hello.');
  await terminal.showsNow('/ commands');
  say('/resume');
  await terminal.showsNow('· No run waits to go on.');
});
