import type { LedgerStore } from 'adjutant/store';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  expectEverything,
  kinds,
  type Markers,
  namedMarkers,
  writeEverything,
} from './everything.ts';
import { type DatabasePlace, places, scope, withPlace } from './places.ts';

function ledgersOf(place: DatabasePlace, isEncrypted: boolean): LedgerStore {
  return (isEncrypted ? place.open() : place.openPlain()).for(scope);
}

// Not only letters: what JSON and the formats of files write in another way would not be found.
const marker = fc.stringMatching(/^[a-z0-9]{16}$/).map((text) => `marker-${text}`);
const anyMarkers = fc.record(
  Object.fromEntries(kinds.map((kind) => [kind, marker])) as Record<keyof Markers, typeof marker>,
);

describe.each(places)('what is stored in %s', (_, make) => {
  test('holds nothing that was said, asked, kept or made of it', { timeout: 60_000 }, async () => {
    const check = async (markers: Markers): Promise<void> =>
      withPlace(make, async (place) => {
        await writeEverything(ledgersOf(place, true), markers);
        const contents = await place.contents();
        for (const kind of kinds) expect(contents.includes(markers[kind]), kind).toBe(false);
        // Another process can read all of it.
        await expectEverything(ledgersOf(place, true), markers);
      });
    await fc.assert(fc.asyncProperty(anyMarkers, check), { numRuns: 6 });
  });

  test('holds all of it without encryption, so that the search would find it', async () => {
    const markers = namedMarkers;
    await withPlace(make, async (place) => {
      await writeEverything(ledgersOf(place, false), markers);
      const contents = await place.contents();
      for (const kind of kinds) expect(contents.includes(markers[kind]), kind).toBe(true);
    });
  });

  test('holds what finds sessions and requests', async () => {
    await withPlace(make, async (place) => {
      const markers = Object.fromEntries(kinds.map((kind) => [kind, kind])) as unknown as Markers;
      await writeEverything(ledgersOf(place, true), markers);
      const contents = await place.contents();
      for (const readable of ['support', 'operation-1', 'refund', 'run/a'])
        expect(contents).toContain(readable);
    });
  });
});
