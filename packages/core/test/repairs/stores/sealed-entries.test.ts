import { agent, type Runtime, runtime, type Store } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { pendingRequest } from '../../../src/testing/contracts/store/harness.ts';
import { failureOf, write } from '../../stores/encrypted/ledger-writer.ts';
import { places, scope, textsOf, withPlace } from '../../stores/encrypted/places.ts';

function appOn(store: Store): Runtime {
  return runtime({ ...scope, store, recover: 'manual' });
}

async function bobSpeaks(app: Runtime): Promise<void> {
  const speaker = agent({ name: 'a', model: scriptedModel([{ text: 'I see.' }]) });
  await app.sessions.open({ id: 's', userId: 'bob' });
  await app.run(speaker, { session: 's', input: 'Hello, I am bob.' });
}

// `user` is a column of SQLite and `user_id` one of PostgreSQL.
describe.each(places)('on %s', (name, make) => {
  const user = name === 'sqlite' ? 'user' : 'user_id';

  test('A10: whose session it is cannot be changed behind the back of the store', () =>
    withPlace(make, async (place) => {
      await bobSpeaks(appOn(place.open()));
      const ledgers = place.open().for(scope);
      expect((await ledgers.list({ user: 'bob' })).map(({ id, title }) => [id, title])).toEqual([
        ['s', 'Hello, I am bob.'],
      ]);
      expect(
        await place.change(`update {s}ledgers set ${user} = 'ann' where ${user} = 'bob'`),
      ).toBe(1);
      for (const options of [{ user: 'ann' }, { id: 's' }, {}])
        expect((await failureOf(ledgers.list(options))).code).toBe('seal_broken');
      await place.change(`update {s}ledgers set ${user} = 'bob' where ${user} = 'ann'`);
      expect(
        await place.change(
          "update {s}ledgers set title = null where session = 's' and app = 'shop'",
        ),
      ).toBe(1);
      expect((await failureOf(ledgers.list({ id: 's' }))).code).toBe('seal_broken');
    }));

  test('A10: nor which agent ran last, nor whose a fork is', () =>
    withPlace(make, async (place) => {
      const app = appOn(place.open());
      await bobSpeaks(app);
      await place.open().for(scope).fork('s', 2, 'f');
      const ledgers = place.open().for(scope);
      expect(await ledgers.list({ id: 'f' })).toMatchObject([
        { user: 'bob', title: 'Hello, I am bob.' },
      ]);
      await place.change(
        `update {s}ledgers set ${user} = 'ann' where session = 'f' and app = 'shop'`,
      );
      expect(await ledgers.list({ user: 'ann' })).toEqual([]);
      expect(await ledgers.list({ id: 'f' })).toMatchObject([{ user: 'bob' }]);
      await place.change(
        "update {s}ledgers set runnable = 'clerk' where session = 's' and app = 'shop'",
      );
      expect((await failureOf(ledgers.list({ id: 's' }))).code).toBe('seal_broken');
    }));

  test('A10: nor whose request it is', () =>
    withPlace(make, async (place) => {
      const ledgers = place.open().for(scope);
      await write(ledgers, 's', ['a'], {
        requests: [{ ...pendingRequest('s', 'q'), user: 'bob' }],
      });
      expect(await ledgers.requests({ user: 'bob' })).toHaveLength(1);
      expect(await place.change(`update {s}requests set ${user} = 'ann'`)).toBe(1);
      expect((await failureOf(ledgers.requests({ user: 'ann' }))).code).toBe('seal_broken');
    }));

  test('A10: an end that is cut off is missed by readers and writers', () =>
    withPlace(make, async (place) => {
      const summary = { status: 'completed', title: 'x' } as const;
      await write(place.open().for(scope), 's', ['a', 'b'], { summary });
      const [row] = await place.rows(
        "select id from {s}ledgers where session = 's' and app = 'shop'",
      );
      await write(place.open().for(scope), 's', ['c'], { summary });
      await place.change('delete from {s}events where ledger = $1 and seq = 3', [
        Number(row?.['id']),
      ]);
      await place.change('update {s}ledgers set seq = 2 where id = $1', [Number(row?.['id'])]);
      const ledgers = place.open().for(scope);
      expect((await failureOf(textsOf(ledgers, 's'))).code).toBe('ledger_unreadable');
      const marks: unknown[] = [];
      for await (const page of ledgers.readStored('s'))
        marks.push(...page.map(({ seq, type }) => [seq, type]));
      expect(marks).toEqual([
        [1, 'user'],
        [2, 'user'],
        [3, 'unreadable'],
      ]);
      expect((await failureOf(write(ledgers, 's', ['d'], { summary }))).code).toBe(
        'ledger_unreadable',
      );
    }));
});
