import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isAdjutantError } from '../../src/base/error.ts';
import { type EventType, eventVersions } from '../../src/ledger/event.ts';
import { createUpcaster, type RawEvent } from '../../src/ledger/upcast/upcaster.ts';
import { decodeEvent } from '../../src/ledger/upcast.ts';

/** An event as an old version wrote it, and as it is read today where that is something else. */
interface GoldenEvent {
  readonly stored: RawEvent;
  readonly read?: RawEvent;
}

const ledgers = new URL('../fixtures/ledgers/', import.meta.url);

function goldenEvent(version: number, type: string): GoldenEvent {
  return JSON.parse(
    readFileSync(new URL(`v${version}/${type}.json`, ledgers), 'utf8'),
  ) as GoldenEvent;
}

const everyStoredVersion = Object.entries(eventVersions).flatMap(([type, latest]) =>
  Array.from({ length: latest }, (_, i) => ({ type: type as EventType, version: i + 1 })),
);

describe('golden events', () => {
  test.each(everyStoredVersion)(
    '$type of version $version is read as it was meant',
    ({ type, version }) => {
      const { stored, read = stored } = goldenEvent(version, type);
      expect(stored).toMatchObject({ type, v: version });
      const event = decodeEvent(structuredClone(stored), 's');
      expect(event).toEqual(read);
      expect(event.v).toBe(eventVersions[type]);
      expect(Object.isFrozen(event)).toBe(true);
    },
  );

  test('no golden event is of a type that no longer exists', () => {
    const types = readdirSync(new URL('v1/', ledgers)).map((file) => file.replace('.json', ''));
    expect(types.sort()).toEqual(Object.keys(eventVersions).sort());
  });
});

describe('upcasting', () => {
  const raw = { v: 1, seq: 7, id: 'x', at: 5, type: 'note', by: 'user', text: 'hello' };
  const decode = createUpcaster(
    { note: 3 },
    {
      note: {
        1: ({ text, ...rest }) => ({ ...rest, words: String(text).split(' ') }),
        2: (event) => ({ ...event, count: (event['words'] as string[]).length }),
      },
    },
  );

  test('goes through every version and keeps the place in the ledger', () => {
    expect(decode(raw, 's')).toEqual({
      v: 3,
      seq: 7,
      id: 'x',
      at: 5,
      type: 'note',
      by: 'user',
      words: ['hello'],
      count: 1,
    });
  });

  test('starts at the version that was stored', () => {
    expect(decode({ ...raw, v: 2, words: ['a', 'b'] }, 's')).toMatchObject({ v: 3, count: 2 });
  });

  test('leaves the stored event as it was and freezes the result', () => {
    const stored = structuredClone(raw);
    const event = decode(stored, 's') as unknown as { words: string[] };
    expect(stored).toEqual(raw);
    expect(Object.isFrozen(event.words)).toBe(true);
  });

  test('leaves a sealed event as it is, for whoever opens it', () => {
    const sealed = { v: 1, seq: 7, id: 'x', at: 5, type: 'note', by: 'user', sealed: 'AAAA' };
    expect(decode(sealed, 's')).toEqual(sealed);
    expect(() => decode({ ...sealed, v: 4 }, 's')).toThrow('version 4');
    expect(() => decode({ ...sealed, type: 'dream' }, 's')).toThrow('is not known');
  });

  test('an upcast cannot move an event', () => {
    const moving = createUpcaster(
      { note: 2 },
      { note: { 1: (event) => ({ ...event, seq: 99, v: 99, type: 'other' }) } },
    );
    expect(moving(raw, 's')).toMatchObject({ seq: 7, v: 2, type: 'note' });
  });

  test('a version without a way to the present one is refused when the table is made', () => {
    expect(() => createUpcaster({ note: 3 }, { note: { 1: (event) => event } })).toThrow(
      RangeError,
    );
  });
});

describe('what cannot be read', () => {
  const good = { v: 1, seq: 7, id: 'x', at: 5, type: 'user', by: 'user', text: 'hello' };
  test.each([
    ['an unknown type', { ...good, type: 'dream' }, /type "dream" is not known/, 7],
    ['a newer version', { ...good, v: 2 }, /version 2 of type "user"/, 7],
    ['no version', { ...good, v: undefined }, /has no version/, 7],
    ['no type', { ...good, type: 5 }, /has no type/, 7],
    ['no seq', { ...good, seq: undefined }, /has no seq/, 0],
    ['a list', [1, 2], /is not an object/, 0],
    ['nothing', null, /is not an object/, 0],
  ])('%s', (_, raw, message, seq) => {
    const read = (): unknown => decodeEvent(raw, 'my session');
    expect(read).toThrow(message);
    try {
      read();
    } catch (error) {
      expect(isAdjutantError(error, 'ledger_unreadable') && error.data).toMatchObject({
        session: 'my session',
        seq,
      });
    }
  });
});
