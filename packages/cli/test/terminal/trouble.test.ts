/** Scenario 34: failures of models, the loop guard and limits, as lines of the conversation. */
import type { Event, EventOf } from 'adjutant';
import { expect, test } from 'vitest';
import { keptLastColumnFree } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import { talk } from './kit/talk.ts';

const sizes = [
  { columns: 80, rows: 24 },
  { columns: 60, rows: 20 },
  { columns: 100, rows: 30 },
  { columns: 200, rows: 50 },
];
const limited = { message: 'rate limited, asked to wait', status: 429 };

function decisionsIn(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'decision' ? [`${event.component}.${event.decision}`] : [],
  );
}

function modelEnds(events: readonly Event[]): readonly EventOf<'model_end'>[] {
  return events.filter((event) => event.type === 'model_end');
}

/** The text of the screen with its wrapped lines joined. */
function words(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

test.for(sizes)('34 retry-countdown-fallback at $columns', async (size) => {
  const { world, terminal, say, leave, ledger } = await talk({ size, env: { FALLBACK: 'yes' } });
  say('Hello');
  (await world.modelCall()).fails({ ...limited, retryAfterSeconds: 3 });
  await terminal.showsNow(/↻ scripted:world 429 rate limited.* Try 2 in \d.* Esc$/m);
  const { screen } = terminal;
  await keepPicture(screen, `11-retry-${size.columns}`);
  (await world.modelCall()).fails({ ...limited, retryAfterSeconds: 0 });
  (await world.modelCall()).fails({ ...limited, retryAfterSeconds: 0 });
  world.script({ text: 'Hello, too.' });
  await terminal.shows('Hello, too.');
  keptLastColumnFree(terminal);
  expect(await leave()).toBe(0);
  await keepPicture(terminal.screen, `11-fallback-${size.columns}`);
  const events = await ledger();
  expect(decisionsIn(events)).toContain('models.fallback');
  const ends = modelEnds(events).map(({ status }) => status);
  expect(ends).toEqual(['error', 'error', 'error', 'completed']);
  expect(words(terminal.screen.whole)).toMatch(
    /! scripted:world cannot answer: rate limited\. Goes on (#\d+ )?with (#\d+ )?scripted:second\./,
  );
});

test('34 a failed run says what to do', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  say('Hello');
  (await world.modelCall()).fails({ message: 'invalid key', status: 401 });
  await terminal.shows(/✗ The run failed: /);
  await keepPicture(terminal.screen, '11-failed');
  expect(await leave()).toBe(0);
  expect((await ledger()).at(-1)).toMatchObject({ type: 'invocation_end', status: 'error' });
});

test.for(sizes)('34 loop-guard at $columns', async (size) => {
  const { world, terminal, say, leave, ledger } = await talk({ size });
  world.result('readFile', 'a');
  const calls = [{ name: 'readFile', args: { path: 'src' } }];
  world.script(...Array.from({ length: 5 }, () => ({ calls })), { text: 'I give up.' });
  say('List it');
  await terminal.shows('I give up.');
  await keepPicture(terminal.screen, `12-loop-${size.columns}`);
  keptLastColumnFree(terminal);
  expect(await leave()).toBe(0);
  expect(decisionsIn(await ledger())).toEqual(
    expect.arrayContaining(['loop_detector.warn', 'loop_detector.block']),
  );
  const { whole } = terminal.screen;
  expect(whole).toMatch(/^! loop guard: readFile was called for the 3rd time/m);
  expect(whole).toMatch(/^✗ loop guard: readFile was called for the 5th time/m);
  expect(whole).toMatch(/^✗ readFile src {2}not run +#\d+$/m);
});

test.for(sizes)('34 budget-lines at $columns', async (size) => {
  const { world, terminal, say, leave, ledger } = await talk({ size, env: { COST: '0.5' } });
  world.result('readFile', (args) => `the file ${JSON.stringify(args)}`);
  world.script(
    ...Array.from({ length: 21 }, (_, n) => ({
      calls: [{ name: 'readFile', args: { path: `src/${n}.ts` } }],
    })),
    { text: 'That is what I have.' },
  );
  say('Look around');
  await terminal.shows('That is what I have.');
  await terminal.showsNow('/ commands');
  await keepPicture(terminal.screen, `12-budget-${size.columns}`);
  keptLastColumnFree(terminal);
  expect(await leave()).toBe(0);
  expect(decisionsIn(await ledger())).toContain('limits.warn');
  const { whole } = terminal.screen;
  expect(whole).toMatch(/^! 9\d % of the cost limit used: \$0\.4\d of \$0\.50\./m);
  expect(whole).toMatch(/^✗ cost limit: \$0\.4\d of \$0\.50 used, and the next/m);
});
