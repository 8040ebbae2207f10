import { storeContract } from 'adjutant/testing';
import { describe, test } from 'vitest';
import { reasonToSkip } from '../stores/postgres/server.ts';
import { inNewSchemas } from './new-schemas.ts';

if (reasonToSkip === undefined) {
  await storeContract(
    'postgres, its events in partitions',
    inNewSchemas(
      ([pool]) => pool,
      (store) => store.admin.partition?.(2) ?? Promise.reject(new Error('no partitions')),
    ),
  );
} else {
  describe.skip(`store contract: postgres in partitions (${reasonToSkip})`, () =>
    test('is skipped', () => undefined));
}
