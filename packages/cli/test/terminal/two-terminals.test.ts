/** Scenarios of a session that is open in two terminals, or that somebody else deletes. */
import { expect, test } from 'vitest';
import { takesKeys, talk } from './kit/talk.ts';

test('a run that ended while its request was looked at elsewhere is only told', async () => {
  const { world, terminal, say, start, sessions } = await talk();
  world.script({ calls: [{ name: 'sendMail', args: { to: 'anna@example.org', subject: 'Hi' } }] });
  world.result('sendMail', 'sent');
  say('Send it');
  await takesKeys(terminal);
  const [id = ''] = await sessions();
  const other = start({ args: ['chat', '--session', id] });
  await takesKeys(other);
  // The other process sees the answer only when nothing is left to continue.
  other.kill('SIGSTOP');
  world.script({ text: 'It is sent.' });
  terminal.write('y');
  await terminal.shows('It is sent.');
  await terminal.showsNow('/ commands');
  other.kill('SIGCONT');
  await other.shows('It is sent.');
  other.write('/status\r');
  await other.shows('coder · idle');
  world.script({ text: 'You are welcome.' });
  other.write('Thank you\r');
  await other.shows('You are welcome.');
  expect(other.screen.whole).not.toContain('no run to continue');
});

test('a session that was deleted elsewhere takes no message, and says so once', async () => {
  const { world, terminal, say, beside, sessions } = await talk();
  world.script({ text: 'Hello.' });
  say('Hi');
  await terminal.shows('Hello.');
  await terminal.showsNow('/ commands');
  const [id = ''] = await sessions();
  await beside((app) => app.sessions.delete(id));
  await terminal.shows('There is no session');
  say('Are you there?');
  const gone = /There is no session/g;
  await terminal.until('the refusal', ({ whole }) => whole.match(gone)?.length === 2);
  world.script({ text: 'Here I am.' });
  say('/new');
  await terminal.until('a new session', ({ allLines }) => {
    return allLines.filter((line) => line.startsWith('new session')).length === 2;
  });
  expect(await sessions()).toEqual([]);
  say('And now?');
  await terminal.shows('Here I am.');
  expect(terminal.screen.whole.match(gone)).toHaveLength(2);
});

test('a list is shown whole enough to choose from in eight rows', async () => {
  const { terminal, say } = await talk({ size: { columns: 80, rows: 8 } });
  say('/model');
  await terminal.showsNow('› scripted:world');
  await terminal.showsNow('Esc close');
});
