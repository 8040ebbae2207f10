import { engineContract } from 'adjutant/testing';
import { temporalEngine } from '../src/index.ts';
import { address } from './server.ts';

await engineContract('temporal', async () => ({
  make: () => temporalEngine({ address, sweepMs: 1_000 }),
  cleanup: async () => undefined,
}));
