import type { LedgerStore } from 'adjutant/store';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failureOf, messages, write } from './ledger-writer.ts';
import { type OpenedPlace, places, scope, textsOf, withPlace } from './places.ts';

interface Row {
  readonly ledger: number;
  readonly seq: number;
  readonly body: string;
}

async function eventRows(place: OpenedPlace): Promise<readonly Row[]> {
  return (await place.rows('select ledger, seq, body from {s}events order by ledger, seq')).map(
    ({ ledger, seq, body }) => ({
      ledger: Number(ledger),
      seq: Number(seq),
      body: String(body),
    }),
  );
}

async function putBody(place: OpenedPlace, { ledger, seq }: Row, body: string): Promise<void> {
  expect(
    await place.change('update {s}events set body = $1 where ledger = $2 and seq = $3', [
      body,
      ledger,
      seq,
    ]),
  ).toBe(1);
}

function sealedIn(body: string): string {
  return /"sealed":"([^"]+)"/.exec(body)?.[1] ?? '';
}

describe.each(places)('an event on %s', (_, make) => {
  test(
    'with any character of its content changed is unreadable, and marked for who looks at it',
    { timeout: 60_000 },
    () =>
      withPlace(make, async (place) => {
        const ledgers = place.open().for(scope);
        await write(ledgers, 's', ['a', 'b', 'c']);
        const row = (await eventRows(place))[1] as Row;
        const sealed = sealedIn(row.body);
        const changed = fc.tuple(
          fc.nat(sealed.length - 1),
          fc.constantFrom(...'ABCXYZabcxyz0189+/=. '),
        );
        await fc.assert(
          fc.asyncProperty(changed, async ([at, character]) => {
            fc.pre(sealed[at] !== character);
            await putBody(
              place,
              row,
              row.body.replace(sealed, `${sealed.slice(0, at)}${character}${sealed.slice(at + 1)}`),
            );
            const failure = await failureOf(textsOf(ledgers, 's'));
            expect(failure).toMatchObject({
              code: 'ledger_unreadable',
              message: expect.stringContaining('Event 2 of session "s"'),
            });
          }),
          { numRuns: 25 },
        );
        const marks: unknown[] = [];
        for await (const page of ledgers.readStored('s'))
          marks.push(...page.map(({ type }) => type));
        expect(marks).toEqual(['user', 'unreadable', 'user']);
        await putBody(place, row, row.body);
        expect(await textsOf(ledgers, 's')).toEqual(['a', 'b', 'c']);
      }),
  );

  test('in the place of any other event is unreadable there', () =>
    withPlace(make, async (place) => {
      const ledgers = place.open().for(scope);
      await write(ledgers, 's', ['a', 'b']);
      await write(ledgers, 't', ['c', 'd']);
      await ledgers.fork('s', 1, 'f', messages(1, ['e', 'f']));
      await write(place.open().for({ ...scope, tenant: 'other' }), 's', ['g', 'h']);
      await write(place.open().for({ ...scope, app: 'other' }), 's', ['i', 'j']);
      const rows = await eventRows(place);
      expect(rows).toHaveLength(10);
      const own = rows[0] as Row;
      for (const row of rows.slice(1)) {
        await putBody(place, own, row.body);
        expect(
          (await failureOf(textsOf(place.open().for(scope), 's'))).code,
          `event ${row.seq} of ledger ${row.ledger}`,
        ).toBe('ledger_unreadable');
      }
      // Its own name on the content of another does not help either.
      await putBody(
        place,
        own,
        own.body.replace(sealedIn(own.body), sealedIn(rows[1]?.body ?? '')),
      );
      expect((await failureOf(textsOf(ledgers, 's'))).code).toBe('ledger_unreadable');
    }));

  test('with another envelope is unreadable', () =>
    withPlace(make, async (place) => {
      const ledgers = place.open().for(scope);
      await write(ledgers, 's', ['a', 'b']);
      const changes = [
        'at = at + 1',
        'type = 2',
        `actor = '"user:43"'`,
        `path = '"run"'`,
        `body = replace(body, '"event', '"other')`,
      ];
      for (const change of changes) {
        const kept = (await place.rows(
          'select at, type, actor, path, body from {s}events where seq = 1',
        )) as Record<string, string | number>[];
        expect(await place.change(`update {s}events set ${change} where seq = 1`)).toBe(1);
        expect((await failureOf(textsOf(place.open().for(scope), 's'))).code, change).toBe(
          'ledger_unreadable',
        );
        const { at, type, actor, path, body } = kept[0] ?? {};
        const values = [
          Number(at),
          Number(type),
          actor,
          typeof path === 'number' ? path : String(path),
          body,
        ] as (string | number)[];
        await place.change(
          'update {s}events set at = $1, type = $2, actor = $3, path = $4, body = $5 where seq = 1',
          values,
        );
        expect(await textsOf(ledgers, 's')).toEqual(['a', 'b']);
      }
    }));

  test('that is not encrypted is not read', () =>
    withPlace(make, async (place) => {
      const ledgers = place.open().for(scope);
      await write(ledgers, 's', ['a']);
      await write(place.openPlain().for(scope), 's', ['forged']);
      expect((await failureOf(textsOf(ledgers, 's'))).message).toContain('not encrypted');
    }));
});

/** Records besides events, and a way to put two of each into each other's places. */
const exchanges: readonly {
  what: string;
  table: string;
  column: string;
  key: string;
  read: (ledgers: LedgerStore) => Promise<unknown>;
}[] = [
  {
    what: 'a title',
    table: 'ledgers',
    column: 'title',
    key: 'session',
    read: (ledgers) => ledgers.list(),
  },
  {
    what: 'an inbox item',
    table: 'inbox',
    column: 'data',
    key: 'key',
    read: (ledgers) => ledgers.inbox('a'),
  },
  {
    what: 'a shared value',
    table: 'shared',
    column: 'value',
    key: 'key',
    read: (ledgers) => ledgers.readShared('user', '1'),
  },
  {
    what: 'a snapshot',
    table: 'snapshots',
    column: 'value',
    key: 'key',
    read: (ledgers) => ledgers.getSnapshot('a', 'a', 1),
  },
];

async function fill(ledgers: LedgerStore): Promise<void> {
  for (const name of ['a', 'b']) {
    const shared = [{ scope: 'user', scopeId: '1', key: name, value: name, baseVersion: 0 }];
    await write(ledgers, name, ['text'], {
      shared,
      summary: { status: 'active', title: `title of ${name}` },
    });
    await ledgers
      .putSnapshot('a', { key: name, seq: name === 'a' ? 1 : 0, value: name })
      .catch(() => undefined);
    await ledgers.post('a', {
      key: name,
      lane: 'input',
      by: 'user',
      at: 5,
      type: 'user',
      data: { text: name },
    });
  }
}

describe.each(places)('on %s', (_, make) => {
  test.each(exchanges)(
    '$what that was put into the place of another one is refused',
    ({ table, column, key, read }) =>
      withPlace(make, async (place) => {
        await fill(place.open().for(scope));
        expect((await failureOf(read(place.open().for(scope)))).code).toBe('none');
        const isMine = table === 'ledgers' ? "and app = 'shop'" : '';
        const found = await place.rows(
          `select ${column} as content, ${key} as name from {s}${table} where ${key} in ` +
            `('a', 'b') ${isMine} order by ${key}`,
        );
        expect(found).toHaveLength(2);
        const [first, second] = found.map(({ content }) => String(content)) as [string, string];
        await place.change(`update {s}${table} set ${column} = $1 where ${key} = 'a' ${isMine}`, [
          second,
        ]);
        await place.change(`update {s}${table} set ${column} = $1 where ${key} = 'b' ${isMine}`, [
          first,
        ]);
        const failure = await failureOf(read(place.open().for(scope)));
        // A snapshot names its segment; the two here are of the same one.
        expect(failure.code).toBe('seal_broken');
      }),
  );

  test(
    'a request that was put into the place of another one, or shows another user, ' + 'is refused',
    () =>
      withPlace(make, async (place) => {
        const ledgers = place.open().for(scope);
        const requestOf = (requestId: string) => ({
          ...{
            requestId,
            session: 's',
            invocationId: 'i',
            callId: 'c',
            kind: 'approval' as const,
            name: 'pay',
            fingerprint: 'f',
            generation: 1,
          },
          ...{
            request: { agent: 'a', summary: `Pay ${requestId}`, options: ['approve' as const] },
            createdAt: 5,
            user: '42',
          },
        });
        await write(ledgers, 's', ['a'], { requests: [requestOf('q1'), requestOf('q2')] });
        expect((await ledgers.requests()).map(({ request }) => request.summary)).toEqual([
          'Pay q1',
          'Pay q2',
        ]);
        // SQLite has other names for the columns than PostgreSQL.
        const isSqlite =
          (await place.rows('select * from {s}requests'))[0]?.['request_id'] === undefined;
        const [id, column] = isSqlite ? ['request', 'body'] : ['request_id', 'request'];
        const found = await place.rows(
          `select ${column} as content from {s}requests order by ${id}`,
        );
        const [first, second] = found.map(({ content }) => String(content)) as [string, string];
        await place.change(`update {s}requests set ${column} = $1 where ${id} = 'q1'`, [
          first.replace(sealedIn(first), sealedIn(second)),
        ]);
        expect((await failureOf(ledgers.requests({ requestId: 'q1' }))).code).toBe('seal_broken');
        await place.change(`update {s}requests set ${column} = $1 where ${id} = 'q1'`, [
          first.replaceAll('"42"', '"43"'),
        ]);
        expect((await failureOf(ledgers.requests({ requestId: 'q1' }))).code).toBe('seal_broken');
        expect(
          (await ledgers.requests({ requestId: 'q2' })).map(({ request }) => request.summary),
        ).toEqual(['Pay q2']);
      }),
  );

  test('a blob that was changed, or put into the place of another one, is refused', () =>
    withPlace(make, async (place) => {
      const ledgers = place.open().for(scope);
      const [first, second] = [
        await ledgers.putBlob(Buffer.from('first')),
        await ledgers.putBlob(Buffer.from('second')),
      ];
      const names = (await place.rows('select address from {s}blobs order by address')).map(
        ({ address }) => String(address),
      );
      expect(names.some((name) => name === first || name === second)).toBe(false);
      await place.change("update {s}blobs set address = 'aside' where address = $1", [
        names[0] as string,
      ]);
      await place.change('update {s}blobs set address = $1 where address = $2', [
        names[0] as string,
        names[1] as string,
      ]);
      await place.change("update {s}blobs set address = $1 where address = 'aside'", [
        names[1] as string,
      ]);
      for (const address of [first, second])
        expect((await failureOf(ledgers.getBlob(address))).code).toBe('seal_broken');
    }));

  test('equal blobs of two tenants have nothing in common', () =>
    withPlace(make, async (place) => {
      for (const tenant of ['acme', 'other'])
        await place
          .open()
          .for({ ...scope, tenant })
          .putBlob(Buffer.from('the same'));
      const rows = await place.rows('select address, bytes from {s}blobs');
      expect(new Set(rows.map(({ address }) => address)).size).toBe(2);
      expect(
        new Set(rows.map(({ bytes }) => Buffer.from(bytes as Uint8Array).toString('hex'))).size,
      ).toBe(2);
    }));

  test('keys that were put into the record of another session are refused', () =>
    withPlace(make, async (place) => {
      const ledgers = place.open().for(scope);
      for (const session of ['s', 't']) await write(ledgers, session, ['a']);
      const [{ title: ofT } = {}] = await place.rows(
        "select title from {s}ledgers where session = 'session:t'",
      );
      const [{ title: ofS } = {}] = await place.rows(
        "select title from {s}ledgers where session = 'session:s'",
      );
      const other = JSON.parse(String(ofT)) as { segments: { wrapped: string }[] };
      const own = JSON.parse(String(ofS)) as { segments: { wrapped: string }[]; line: string[] };
      const forged = [
        other,
        {
          ...own,
          segments: own.segments.map((segment) => ({
            ...segment,
            wrapped: other.segments[0]?.wrapped,
          })),
        },
        { ...own, segments: own.segments.map((segment) => ({ ...segment, id: 'another' })) },
        { ...own, line: ['another', ...own.line] },
        { ...own, title: 'AAAA' },
        { ...own, segments: [] },
        'no record',
      ];
      for (const record of forged) {
        await place.change("update {s}ledgers set title = $1 where session = 'session:s'", [
          JSON.stringify(record),
        ]);
        expect(
          (await failureOf(textsOf(place.open().for(scope), 's'))).code,
          JSON.stringify(record),
        ).toBe('seal_broken');
      }
      await place.open().for(scope).delete('s', { erase: true });
      expect((await ledgers.list()).map(({ id }) => id)).toEqual(['t']);
      expect(await place.rows("select 1 from {s}ledgers where session = 'session:s'")).toEqual([]);
    }));
});
