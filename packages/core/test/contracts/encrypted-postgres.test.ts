import { encrypted, localKeys } from 'adjutant/encryption';
import { type MakeStore, storeContract } from 'adjutant/testing';
import { describe, test } from 'vitest';
import { firstKey } from '../stores/encrypted/places.ts';
import { reasonToSkip } from '../stores/postgres/server.ts';
import { inNewSchemas } from './new-schemas.ts';

function sealed(make: MakeStore): MakeStore {
  return async () => {
    const { store, clock, cleanup } = await make();
    const around = encrypted(store, { keys: localKeys({ keys: [firstKey] }) });
    const cleanupAround = async (): Promise<void> => {
      await around.close();
      await cleanup();
    };
    return { store: around, ...(clock === undefined ? {} : { clock }), cleanup: cleanupAround };
  };
}

if (reasonToSkip === undefined) {
  await storeContract('encrypted in postgres', sealed(inNewSchemas(([pool]) => pool)));
} else {
  describe.skip(`store contract: encrypted in postgres (${reasonToSkip})`, () =>
    test('is skipped', () => undefined));
}
