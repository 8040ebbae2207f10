import { storeContract } from 'adjutant/testing';
import { describe, test } from 'vitest';
import { reasonToSkip } from '../stores/postgres/server.ts';
import { inNewSchemas } from './new-schemas.ts';

if (reasonToSkip === undefined) {
  await storeContract(
    'postgres',
    inNewSchemas(([pool]) => pool),
  );
} else {
  describe.skip(`store contract: postgres (${reasonToSkip})`, () =>
    test('is skipped', () => undefined));
}
