/** Scenario 32: every kind of field, and what only the app itself can refuse. */
import { expect, test } from 'vitest';
import { keptLastColumnFree } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import { keys, talk } from './kit/talk.ts';

const sizes = [
  { columns: 80, rows: 24 },
  { columns: 60, rows: 20 },
  { columns: 100, rows: 30 },
  { columns: 200, rows: 50 },
];

test.for(sizes)('32 form-all-field-kinds-and-server-side-refusal at $columns', async (size) => {
  const { world, terminal, say, leave, ledger } = await talk({ size });
  world.script({ calls: [{ name: 'ship', args: { order: 17 } }] }, { text: 'Shipped.' });
  say('Ship it');
  await terminal.until('a form with a choice', ({ text }) => text.includes('Space: choose'));
  await terminal.showsNow('Alt-Enter send');
  expect(terminal.screen.text).toMatch(/\? ship 17 needs input +#\d+ · 30 days left/);
  const steps = async (...list: readonly (readonly [string, string | RegExp])[]): Promise<void> => {
    for (const [typed, shown] of list) {
      terminal.write(typed);
      await terminal.showsNow(shown);
    }
  };
  await steps([' ', '› at'], ['fr', '  fr'], [keys.enter, /› Country \* +fr/]);
  await steps(
    [keys.tab, '› Mail'],
    ['ada', 'ada'],
    [keys.tab, 'must be an email address: ada'],
    [`hush`, '••••'],
    [keys.tab, '› Weight'],
    ['90', '90'],
    [keys.tab, '› Labels'],
    ['fragile', 'fragile'],
  );
  terminal.paste('this\nside up');
  await terminal.showsNow('side up');
  await steps(
    [keys.tab, /› +Name/],
    ['Anna', 'Anna'],
    [keys.tab, '› Extras'],
    ['{ "straw": 2 }', '"straw"'],
    [keys.altEnter, '› Mail'],
  );
  await keepPicture(terminal.screen, `8-faults-${size.columns}`);
  expect(terminal.screen.whole).not.toContain('hush');
  const inputs = async (): Promise<unknown[]> =>
    (await ledger()).filter(({ type }) => type === 'tool_input');
  expect(await inputs()).toEqual([]);
  await steps(
    ['@example.org', 'ada@example.org'],
    // Every field is right by itself now.
    [keys.altEnter, /✗ .*\$\.weight must be ≤ 30/],
  );
  await keepPicture(terminal.screen, `8-refused-${size.columns}`);
  expect(await inputs()).toEqual([]);
  await steps([keys.tab, '› Pin'], [keys.tab, '› Weight'], [`${keys.ctrl('u')}29`, / 29$/m]);
  terminal.write(keys.altEnter);
  await terminal.shows('Shipped.');
  keptLastColumnFree(terminal);
  expect(await leave()).toBe(0);
  expect(await inputs()).toMatchObject([
    {
      input: {
        ...{ country: 'fr', mail: 'ada@example.org', pin: 'hush', weight: 29 },
        labels: ['fragilethis', 'side up'],
        ...{ receiver: { name: 'Anna' }, extras: { straw: 2 } },
      },
    },
  ]);
});
