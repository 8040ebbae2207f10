import { join } from 'node:path';
import { eventually } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { startChatServer } from '../chat-server.ts';
import { type Bench, bench, jsonLines } from '../run-cli.ts';

/** `adjutant serve`, with a command that works with it. */
async function serve(place: Bench, args: readonly string[]) {
  const { child } = place.start(['serve', '--json', '--no-dashboard', '--port', '0', ...args]);
  let text = '';
  child.stdout?.on('data', (more: string) => (text += more));
  await eventually(() => text.includes('\n'), { what: 'the server', patienceMs: 100_000 });
  const { url } = jsonLines(text)[0] as { url: string };
  return { url, on: (...words: string[]) => place.run([...words, '--server', url]) };
}

test('sessions of a server are followed, forked, exported and deleted', async () => {
  const place = bench();
  const model = await startChatServer(() => ({ text: 'Here I am.' }));
  const { url, on } = await serve(place, ['--model', model.modelName]);
  model.hangFrom = 2;
  expect((await on('run', 'Hello', '--session', 'talk')).code).toBe(0);

  const over = await on('show', 'talk', '--follow');
  expect(over).toMatchObject({ code: 0, stderr: '' });
  expect(over.stdout).toMatch(/^ +2 .* user .*Hello(.*\n)*.* invocation_end .*\n$/m);

  const forked = await on('fork', 'talk', '--at', '1', '--id', 'again', '--set', 'mood=good');
  expect((await on('state', 'again', '--json')).stdout).toContain('"mood":"good"');
  expect(forked.stdout).toContain('Session again has the first 1 events of talk. Go on with: ');
  expect(forked.stdout).toContain(`--server ${url}`);
  const file = join(place.folder, 'talk.json');
  const exported = await on('export', 'talk', '-o', file);
  expect(exported).toMatchObject({ code: 0, stderr: '' });
  expect(exported.stdout).toContain(`written to ${file}`);
  expect((await place.run(['diff', file, file])).code).toBe(0);
  const cut = await on('export', 'talk', '--redact-pattern', 'Here I am');
  expect(cut).toMatchObject({ code: 0, stderr: expect.stringContaining('1 value taken out') });
  expect(cut.stdout).not.toContain('Here I am');
  expect(await on('delete', 'again', '--json')).toMatchObject({
    code: 0,
    stdout: '{"type":"delete","session":"again","withForks":false}\n',
  });
  expect((await on('delete', 'again')).code).toBe(2);

  // A run under way is followed until it has ended, in whatever way.
  const running = place.start(['run', 'More', '--session', 'talk', '--server', url]);
  await model.reached(2);
  const following = place.start(['show', 'last', '--follow', '--json', '--server', url]);
  let seen = '';
  following.child.stdout?.on('data', (more: string) => (seen += more));
  await eventually(() => seen.includes('More'), { what: 'the message', patienceMs: 100_000 });
  await on('cancel', 'talk');
  const { code, stdout } = await following.finished;
  expect(code).toBe(1);
  expect(jsonLines(stdout).at(-1)).toMatchObject({ type: 'invocation_end', status: 'cancelled' });
  await running.finished;
});

test('a run of this machine is followed from another process until it has ended', async () => {
  const place = bench();
  const model = await startChatServer(() => ({ text: 'Here I am.' }));
  model.hangFrom = 1;
  const running = place.start(['run', 'Hello', '--session', 'talk', '--model', model.modelName]);
  await model.reached(1);
  const following = place.start(['show', '--follow']);
  let seen = '';
  following.child.stdout?.on('data', (more: string) => (seen += more));
  await eventually(() => seen.includes('Hello'), { what: 'the message', patienceMs: 100_000 });
  await place.run(['cancel', 'talk']);
  expect(await following.finished).toMatchObject({ code: 1 });
  expect(seen).toContain('cancelled');
  await running.finished;
  expect((await place.run(['show', 'talk', '--follow', '--at', '1'])).stderr).toContain(
    "option '--follow' cannot be used with option '--at <seq>'",
  );
});
