import { storeContract } from 'adjutant/testing';
import { describe, test } from 'vitest';
import { inNewSchemas } from './contract-schema.ts';
import { reasonToSkip } from './server.ts';

if (reasonToSkip === undefined) {
  await storeContract(
    'postgres',
    inNewSchemas(([pool]) => pool),
  );
} else {
  describe.skip(`store contract: postgres (${reasonToSkip})`, () =>
    test('is skipped', () => undefined));
}
