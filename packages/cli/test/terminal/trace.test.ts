/** Scenarios 36 and 37: the trace, prompts and states of long sessions, and forks from there. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Event, type EventDraft, runtime } from 'adjutant';
import { promptOf } from 'adjutant/context';
import { sqlite } from 'adjutant/sqlite';
import { expect, test } from 'vitest';
import { clearedNothing, keptLastColumnFree, restoredModes } from './kit/byte-checks.ts';
import type { PseudoTerminal } from './kit/pseudo-terminal.ts';
import { servedBench } from './kit/served.ts';
import { keys, type Talk, takesKeys, talk } from './kit/talk.ts';

const sizes = [
  { columns: 80, rows: 24 },
  { columns: 60, rows: 20 },
  { columns: 200, rows: 50 },
];
const manyEvents = 100_000;

/** Reads the store beside the program. */
async function reading<Found>(
  { folder }: Talk,
  read: (app: ReturnType<typeof runtime>) => Promise<Found>,
): Promise<Found> {
  const app = runtime({ app: 'shop', store: sqlite(join(folder, 'shop.db')), recover: 'manual' });
  try {
    return await read(app);
  } finally {
    await app.close();
  }
}

/** Events of a real run, and behind them as many writes of state as it takes. */
function longer(events: readonly Event[]): readonly Event[] {
  const all = [...events];
  const at = events.at(-1)?.at ?? 0;
  while (all.length < manyEvents) {
    const seq = all.length + 1;
    const change = { key: 'count', oldValue: seq - 1, newValue: seq };
    const draft: EventDraft = {
      ...{ type: 'state_change', by: 'operator', scope: 'session', source: 'mutation' },
      changes: [change],
    };
    all.push({ v: 2, seq, id: `e${seq}`, at, ...draft } as Event);
  }
  return all;
}

async function work(): Promise<Talk> {
  const one = await talk();
  const { world, terminal, say } = one;
  world.result('readFile', 'a\nb');
  world.result('runTests', '14 passed');
  world.script(
    { calls: [{ name: 'readFile', args: { path: 'src/money.ts' } }] },
    { calls: [{ name: 'runTests', args: { path: 'test' } }] },
    { text: 'All is well.' },
  );
  say('Run the tests');
  await terminal.shows('All is well.');
  return one;
}

function copied({ raw }: PseudoTerminal): string {
  const [, text = ''] = /]52;c;([A-Za-z0-9+/=]*)/.exec(raw.slice(raw.lastIndexOf(']52;c;'))) ?? [];
  return Buffer.from(text, 'base64').toString();
}

test.for(sizes)(
  '36 trace-modes-search-prompt-diff-at-100k-events-scrub-equals-stateAt $columns',
  async (size) => {
    const one = await work();
    expect(await one.leave()).toBe(0);
    const short = await one.ledger();
    const start = short.filter(({ type }) => type === 'model_start')[1]?.seq ?? 0;
    const expected = await reading(one, async (app) => {
      const id = 'session_long';
      const session = await app.sessions.restore({ app: 'shop', id, events: longer(short) });
      const states = [start, 50_000, manyEvents].map((seq) => {
        const { count } = session.stateAt(seq).sessionState as { readonly count?: number };
        return { seq, count };
      });
      return { states, prompt: promptOf(session, start) };
    });
    const terminal = one.start({ size, args: ['chat', '--session', 'session_long'] });
    await terminal.shows('100,000 events');
    terminal.write(keys.ctrl('x'));
    await terminal.showsNow(/› +\d+ .*count 99999 → 100000/);
    const before = terminal.raw.length;
    for (let row = 1; row <= 5; row++) {
      terminal.write(keys.up);
      await terminal.showsNow(
        new RegExp(`› .*count ${manyEvents - row - 1} → ${manyEvents - row}`),
      );
    }
    expect(terminal.raw.length - before).toBeLessThan(5 * 6 * size.columns * size.rows);
    terminal.write(`/"newValue":77777}${keys.enter}`);
    await terminal.showsNow(/› .*count 77776 → 77777/);
    terminal.write(`fstate_change 50000${keys.enter}`);
    await terminal.showsNow('count 49999 → 50000');
    terminal.write('f');
    await terminal.showsNow('filter: ▏');
    terminal.write(keys.enter);
    await terminal.showsNow('count 49997 → 49998');
    terminal.write('{');
    await terminal.showsNow(/› .*run of coder/);
    keptLastColumnFree(terminal);
    terminal.write(']]p');
    await terminal.showsNow(`#${start} model_start`);
    await terminal.showsNow(/\+ tool readFile/);
    terminal.write('=');
    await terminal.hides(/user +\d+ +Run the tests/);
    terminal.write('y');
    await terminal.showsNow('copied');
    expect(JSON.parse(copied(terminal))).toEqual(JSON.parse(JSON.stringify(expected.prompt)));
    terminal.write('qq');
    await terminal.until('the app', ({ isAlternate }) => !isAlternate);
    for (const { seq, count } of expected.states) {
      terminal.write(`/state at ${seq}${keys.enter}`);
      await terminal.showsNow(
        count === undefined ? /session +empty/ : new RegExp(`count ${count}\\b`),
      );
      await terminal.showsNow(`#${seq} of ${manyEvents}`);
      terminal.write('q');
      await terminal.until('the app', ({ isAlternate }) => !isAlternate);
    }
    terminal.write(keys.ctrl('d'));
    expect(await terminal.exited).toBe(0);
    restoredModes(terminal);
  },
);

/** A talk in which a file was edited and a mail was sent. */
async function edited(): Promise<Talk> {
  const one = await talk();
  const { world, terminal, say } = one;
  world.result('readFile', 'a');
  world.result('editFile', 'edited');
  const edit = { path: 'src/money.ts', oldText: 'a', newText: 'b' };
  world.script(
    { calls: [{ name: 'readFile', args: { path: 'src/money.ts' } }] },
    { calls: [{ name: 'editFile', args: edit }] },
    { text: 'It is mended.' },
    { text: 'You are welcome.' },
  );
  say('Mend it');
  await terminal.showsNow('coder wants to call editFile');
  await takesKeys(terminal);
  terminal.write('y');
  await terminal.shows('It is mended.');
  say('Thank you');
  await terminal.shows('You are welcome.');
  await terminal.showsNow('/ commands');
  return one;
}

test('37 fork-from-scrub-opens-and-names-effects', async () => {
  const one = await edited();
  const { terminal, sessions, ledger, leave } = one;
  const events = await ledger();
  const [first] = await sessions();
  const last = events.at(-1)?.seq ?? 0;
  const thanks = events.findLast(({ type }) => type === 'user')?.seq ?? 0;
  terminal.write(`/state at ${thanks - 1}${keys.enter}`);
  await terminal.showsNow(`#${thanks - 1} of ${last}`);
  await terminal.showsNow(/undone:\s+1 editFile \(the\s+fork/);
  terminal.write('F');
  await terminal.shows(
    new RegExp(`A fork of \\S+ with its events up to #${thanks - 1}\\. Done in the`),
  );
  await terminal.showsNow(/not\s+undone:\s+1\s+editFile\./);
  const [second] = await sessions();
  expect(second).not.toBe(first);
  expect((await ledger(second)).slice(0, thanks - 1).map(({ type }) => type)).toEqual(
    events.slice(0, thanks - 1).map(({ type }) => type),
  );
  terminal.write(keys.ctrl('x'));
  await terminal.showsNow('[d] debug');
  terminal.write('{s');
  await terminal.showsNow(/m fork and change my message #\d/);
  terminal.write('m');
  await terminal.until('the app', ({ isAlternate }) => !isAlternate);
  await terminal.showsNow('› Mend it');
  terminal.write(keys.ctrl('u'));
  expect(await leave()).toBe(0);
  restoredModes(terminal);
});

test('stored text of others is shown in all views, and obeyed in none', async () => {
  const one = await talk();
  const { world, terminal, say, leave } = one;
  const hostile = '\u001B[2J\u001B]0;owned\u0007\u202Eevil\u009B3J\r\nnext';
  world.result('readFile', hostile);
  world.script(
    { thought: hostile, calls: [{ name: 'readFile', args: { path: hostile } }] },
    { text: 'Done.' },
  );
  say('Read it');
  await terminal.shows('Done.');
  await terminal.showsNow('/ commands');
  terminal.write(keys.ctrl('o'));
  await terminal.showsNow('2 next');
  await terminal.showsNow('⟨U+202E⟩');
  terminal.write('q');
  await terminal.until('the app', ({ isAlternate }) => !isAlternate);
  for (const [typed, shown] of [
    [keys.ctrl('x'), '[d] debug'],
    ['!/evil', '/evil▏'],
    [keys.enter, /› +\d+ .*␛/],
    [keys.enter, 'lines 1'],
    ['qc', '[c] content'],
    ['l', '[l] log'],
    ['dGp', /tool readFile/],
    ['q', '[d] debug'],
    ['s', 'scrub'],
  ] as const) {
    terminal.write(typed);
    await terminal.showsNow(shown);
    keptLastColumnFree(terminal);
  }
  terminal.write('qq');
  await terminal.until('the app', ({ isAlternate }) => !isAlternate);
  expect(await leave()).toBe(0);
  expect(terminal.raw).not.toContain('\u001B]0;owned');
  expect(terminal.raw).not.toContain('\u202E');
  clearedNothing(terminal);
  restoredModes(terminal);
});

test('commands of views say what there is when something is not there', async () => {
  const one = await work();
  const { terminal, say, leave } = one;
  for (const [command, said] of [
    ['/trace 140', /#140: there are \d+ events/],
    ['/prompt 9', '9: there are 3 model calls.'],
    ['/state nothing', /The state has no key nothing at #\d+\. There is none\./],
    ['/state a b', '/state takes a key and a place: /state a at 84.'],
  ] as const) {
    say(command);
    await terminal.shows(said);
  }
  say('/prompt 2');
  await terminal.showsNow('round 2');
  terminal.write(keys.tab);
  await terminal.showsNow('round 3');
  terminal.write('q');
  await terminal.until('the app', ({ isAlternate }) => !isAlternate);
  terminal.write(keys.pageUp);
  await terminal.showsNow('[c] content');
  terminal.write(keys.ctrl('c'));
  await terminal.until('the app', ({ isAlternate }) => !isAlternate);
  expect(await leave()).toBe(0);
});

test('36 of a session on a server: the trace, a prompt, a state and a fork from there', async () => {
  const bench = await servedBench();
  const { world, proxy, sessions } = bench;
  const terminal = bench.start({
    args: ['chat', '--server', proxy.url],
    env: { ADJUTANT_KEY: bench.keys.operator },
    cwd: bench.folder,
  });
  await terminal.shows('new session');
  world.result('readFile', 'a\nb');
  world.script({ calls: [{ name: 'readFile', args: { path: 'a.ts' } }] }, { text: 'Done.' });
  terminal.write(`Read it${keys.enter}`);
  await terminal.shows('Done.');
  await terminal.showsNow('/ commands');
  const [first] = await sessions();
  const ledger = await bench.ledger(first);
  const result = ledger.find(({ type }) => type === 'tool_result')?.seq ?? 0;
  for (const [typed, shown] of [
    [keys.ctrl('x'), /› .*completed/],
    ['p', /\+ tool readFile/],
    ['q', '[d] debug'],
    ['s', /session +empty/],
    ['q', '[d] debug'],
    ['/a.ts', '/a.ts▏'],
    [keys.enter, /› .*/],
    [keys.escape, '/ commands'],
    [keys.ctrl('o'), '1 a'],
    ['q', '/ commands'],
    [`/state at ${result}${keys.enter}`, `#${result} of ${ledger.length}`],
    ['G', 'live'],
  ] as const) {
    terminal.write(typed);
    await terminal.showsNow(shown);
  }
  terminal.write('F');
  await terminal.shows(new RegExp(`A fork of \\S+ with its events up to #${ledger.length}`));
  const [second] = await sessions();
  expect(second).not.toBe(first);
  await terminal.showsNow('/ commands');
  terminal.write(keys.ctrl('d'));
  await terminal.exited;
  restoredModes(terminal);
});

test('an event of a type that is not known is shown as one, and the session is looked at', async () => {
  const one = await work();
  expect(await one.leave()).toBe(0);
  const [id = ''] = await one.sessions();
  const database = new DatabaseSync(join(one.folder, 'shop.db'));
  const strange = { v: 1, seq: 6, id: 'e6', at: 1, type: 'plan', by: 'runtime', title: 'Paris' };
  const written = database.prepare('update events set body = ? where seq = 6');
  expect(written.run(JSON.stringify(strange)).changes).toBe(1);
  database.close();
  const terminal = one.start({ args: ['chat', '--session', id] });
  await terminal.shows(/! #6 cannot be shown: needs a newer adjutant/);
  await terminal.shows(/✗ Event 6 of session "\S+"\s+cannot be read/);
  terminal.write(keys.ctrl('x'));
  await terminal.showsNow(/! #6 cannot be shown: needs a newer adjutant/);
  terminal.write('{!');
  await terminal.showsNow(/› +6 .*cannot be shown/);
  terminal.write(keys.enter);
  await terminal.showsNow('"title": "Paris"');
  terminal.write('qs');
  await terminal.showsNow(/✗ Event 6 of session/);
  terminal.write('qq');
  await terminal.until('the app', ({ isAlternate }) => !isAlternate);
  terminal.write(`Go on${keys.enter}`);
  await terminal.until('the refusal', ({ whole }) => whole.split('✗ Event 6').length === 3);
  terminal.write(keys.ctrl('u'));
  terminal.write(keys.ctrl('d'));
  expect(await terminal.exited).toBe(0);
});
