import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { seed } from '../fuzz/seed.ts';
import type { EncryptingOrder } from '../stores/encrypted/encrypting-process.ts';
import {
  expectEverything,
  kinds,
  namedMarkers,
  writeEverything,
} from '../stores/encrypted/everything.ts';
import { write } from '../stores/encrypted/ledger-writer.ts';
import {
  firstKey,
  type OpenedPlace,
  places,
  scope,
  textsOf,
  withPlace,
} from '../stores/encrypted/places.ts';

const script = fileURLToPath(new URL('../stores/encrypted/encrypting-process.ts', import.meta.url));

/** Encrypts in another process. Returns its signal, and the number of its statements. */
async function encryptElsewhere(
  { address }: OpenedPlace,
  killBefore?: number,
): Promise<{ readonly signal: string | null; readonly statements: number }> {
  const order: EncryptingOrder = {
    address,
    key: firstKey,
    ...(killBefore === undefined ? {} : { killBefore }),
  };
  const child = spawn(process.execPath, [script, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { signal: signal as string | null, statements: Number(said) };
}

async function writePlain(place: OpenedPlace): Promise<void> {
  const ledgers = place.openPlain().for(scope);
  await writeEverything(ledgers, namedMarkers);
  // A fork that has events of a session that is gone.
  await write(ledgers, 'gone', ['left']);
  await ledgers.fork('gone', 1, 'heir');
  await write(ledgers, 'heir', ['own']);
  await ledgers.delete('gone');
  await place.close();
  await place.change('update {s}ledgers set owner = null, lease_until = null');
}

/** Events that still hold their marker; those that were sealed do not. */
async function plainEvents(place: OpenedPlace): Promise<readonly unknown[]> {
  return place.rows(`select 1 from {s}events where body like '%${namedMarkers.event}%'`);
}

/** Numbers from 1 to `most`, drawn by the seed, and the last ones. */
function drawn(most: number): readonly number[] {
  const places = Array.from({ length: 4 }, (_, i) => 1 + ((seed * (i + 7) * 7_919) % most));
  return [...new Set([...places, most - 3, most - 2, most - 1, most])].sort((a, b) => a - b);
}

describe.each(places)('an encryption in %s that is killed', (_, make) => {
  test('leaves all or nothing sealed, and the next one ends it', { timeout: 240_000 }, async () => {
    let statements = 0;
    let whole = 0;
    await withPlace(make, async (place) => {
      await writePlain(place);
      whole = (await plainEvents(place)).length;
      ({ statements } = await encryptElsewhere(place));
      expect(await plainEvents(place)).toEqual([]);
    });
    for (const killBefore of drawn(statements)) {
      await withPlace(make, async (place) => {
        await writePlain(place);
        expect((await encryptElsewhere(place, killBefore)).signal).toBe('SIGKILL');
        const left = (await plainEvents(place)).length;
        expect([0, whole], `killed before statement ${killBefore}`).toContain(left);
        const store = place.open();
        await store.encryptExisting();
        const ledgers = store.for(scope);
        const snapshot = { key: 'fold', seq: 3, value: { text: namedMarkers.snapshot } };
        await ledgers.putSnapshot('s', snapshot);
        await expectEverything(ledgers, namedMarkers);
        expect(await textsOf(ledgers, 'heir')).toEqual(['left', 'own']);
        await place.close();
        const contents = await place.contents();
        for (const kind of kinds) expect(contents.includes(namedMarkers[kind]), kind).toBe(false);
      });
    }
  });
});
