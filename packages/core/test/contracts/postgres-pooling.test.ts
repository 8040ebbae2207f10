import { storeContract } from 'adjutant/testing';
import { describe, test } from 'vitest';
import { reasonToSkip } from '../stores/postgres/server.ts';
import { inNewSchemas } from './new-schemas.ts';
import { statelessPool } from './stateless-pool.ts';

if (reasonToSkip === undefined) {
  await storeContract('postgres, no two statements on one connection', inNewSchemas(statelessPool));
} else {
  describe.skip(`store contract: postgres with a pooler (${reasonToSkip})`, () =>
    test('is skipped', () => undefined));
}
