/** Scenario 39: the terminal app on a server, over connections that are cut. */
import { expect, test } from 'vitest';
import { clearedNothing, keptLastColumnFree, restoredModes } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import { type ServedBench, servedBench } from './kit/served.ts';
import { keys, takesKeys } from './kit/talk.ts';

type Role = keyof ServedBench['keys'];

function openOn(
  bench: ServedBench,
  { role = 'operator', args = [] }: { readonly role?: Role; readonly args?: string[] } = {},
) {
  const { proxy, keys: credentials } = bench;
  return bench.start({
    args: ['chat', '--server', proxy.url, ...args],
    env: { ADJUTANT_KEY: credentials[role] },
    cwd: bench.folder,
  });
}

test('39 same-script-on-server-with-reconnect-and-role-viewer', async () => {
  const bench = await servedBench();
  const { world, proxy, ledger, sessions } = bench;
  const terminal = openOn(bench);
  await terminal.shows(`agent coder at ${proxy.url}`);
  await terminal.shows(/new session · \d+ tools, \d+ ask first/);
  terminal.write(`Why does the test fail?${keys.enter}`);
  const first = await world.modelCall();
  first.says('The helper is used in two places.\n\nThen I l');
  await terminal.showsNow('Then I l');
  await keepPicture(terminal.screen, '39-streaming');
  proxy.cut();
  first.says('ook at');
  await terminal.showsNow('Then I look at');
  terminal.write(`and at refunds${keys.enter}`);
  await terminal.showsNow('stored · read after this round');
  first.says(' it.');
  first.calls('editFile', { path: 'a.ts', oldText: 'a', newText: 'b' });
  first.ends();
  await takesKeys(terminal);
  await keepPicture(terminal.screen, '39-asks');
  terminal.write('y');
  (await world.toolCall('editFile')).returns({ done: true });
  const second = await world.modelCall();
  expect(JSON.stringify(second.prompt)).toContain('and at refunds');
  second.says('Both are');
  await terminal.showsNow('Both are');
  const { whole } = terminal.screen;
  for (const once of ['The helper', 'Then I look at it.', '› and at refunds', '✓ editFile'])
    expect(whole.split(once), once).toHaveLength(2);
  expect(whole).not.toMatch(/starts again|differs from what was streamed/);

  keptLastColumnFree(terminal);

  // Leaving does not stop the run.
  terminal.write(keys.ctrl('c'));
  await terminal.showsNow('The run goes on there.');
  terminal.write(keys.ctrl('c'));
  expect(await terminal.exited).toBe(0);
  const [id = ''] = await sessions();
  const goodbye = terminal.screen.whole;
  expect(goodbye).toMatch(/is kept: \d+ events, .*\. The run goes on there\./);
  expect(goodbye.replaceAll('\n', '')).toContain(`chat --session ${id} --server ${proxy.url}`);
  expect(goodbye).not.toContain(bench.keys.operator);
  clearedNothing(terminal);
  restoredModes(terminal);

  // The printed lines come back, and the answer that was under way goes on.
  const again = openOn(bench, { args: ['--session', id.slice(-6)] });
  await again.shows(/works\s+in the server/);
  await again.showsNow('Both are');
  second.says(' mended.');
  second.ends();
  await again.shows('Both are mended.');
  await again.showsNow('/ commands');
  again.write(`/cost${keys.enter}`);
  await again.shows(/scripted:world {2}2 rounds/);
  again.write(`/model${keys.enter}`);
  await again.shows('coder thinks with scripted:world.');
  again.write(`/fork 1${keys.enter}`);
  await again.shows('with its events up to #1');
  again.write(keys.ctrl('d'));
  expect(await again.exited).toBe(0);
  expect(await sessions()).toHaveLength(2);
  const events = await ledger(id);
  expect(events.filter(({ type }) => type === 'user')).toHaveLength(2);
  expect(events.filter(({ type }) => type === 'invocation_end')).toHaveLength(1);

  // A viewer sees it all, and is told what it may not do.
  const viewer = openOn(bench, { role: 'viewer', args: ['--session', id] });
  await viewer.shows('Both are mended.');
  viewer.write(`Do more${keys.enter}`);
  await viewer.shows('This needs the permission "operate", which none of your roles gives.');
  // The text is back, to be sent by somebody who may.
  await viewer.showsNow('› Do more');
  viewer.write(keys.ctrl('u'));
  await viewer.showsNow('› Ask coder something');
  viewer.write(`/fork${keys.enter}`);
  await viewer.until('the second refusal', ({ whole }) => whole.split('"operate"').length === 3);
  await keepPicture(viewer.screen, '39-viewer');
  viewer.write(keys.ctrl('d'));
  expect(await viewer.exited).toBe(0);
  expect(await ledger(id)).toHaveLength(events.length);
});

test('a server that cannot be used is told of in a sentence', async () => {
  const bench = await servedBench();
  const started = (url: string, key: string) =>
    bench.start({ args: ['--server', url], env: { ADJUTANT_KEY: key }, cwd: bench.folder });
  const refused = started(bench.proxy.url, 'wrong');
  expect(await refused.exited).toBe(2);
  expect(refused.screen.whole.replaceAll('\n', ' ')).toMatch(
    /adjutant: .* Give a key with --key, or in ADJUTANT_KEY\./,
  );
  const unnamed = started('agents', bench.keys.viewer);
  expect(await unnamed.exited).toBe(2);
  expect(unnamed.screen.whole).toContain('must be an address such as');
  await bench.stop();
  const away = started(bench.proxy.url, bench.keys.viewer);
  expect(await away.exited).toBe(1);
  expect(away.screen.whole).toContain('could not be reached');
  for (const terminal of [refused, unnamed, away]) restoredModes(terminal);
});
