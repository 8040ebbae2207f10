import { storeContract } from 'adjutant/testing';
import { describe, test } from 'vitest';
import { inNewSchemas } from './contract-schema.ts';
import { reasonToSkip } from './server.ts';
import { statelessPool } from './stateless-pool.ts';

if (reasonToSkip === undefined) {
  await storeContract('postgres, no two statements on one connection', inNewSchemas(statelessPool));
} else {
  describe.skip(`store contract: postgres with a pooler (${reasonToSkip})`, () =>
    test('is skipped', () => undefined));
}
