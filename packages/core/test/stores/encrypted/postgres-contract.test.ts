import { encrypted, localKeys } from 'adjutant/encryption';
import { type MakeStore, storeContract } from 'adjutant/testing';
import { describe, test } from 'vitest';
import { inNewSchemas } from '../postgres/contract-schema.ts';
import { reasonToSkip } from '../postgres/server.ts';
import { firstKey } from './places.ts';

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
