import { testClock } from '../base/clocks/test-clock.ts';
import { storeContract } from '../testing/contracts/store/store-contract.ts';
import { memoryStore } from './memory.ts';

await storeContract('memory', async () => {
  const clock = testClock();
  const store = memoryStore({ clock });
  return { store, clock, cleanup: () => store.close() };
});
