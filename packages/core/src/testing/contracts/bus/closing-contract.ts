import { contractExpect as expect } from '../store/contract-expect.ts';
import { busEvent, codeOf, collected, settled } from './bus-events.ts';
import type { DefineBusTest } from './bus-under-test.ts';

export function closingContract(test: DefineBusTest): void {
  test('a closed bus takes nothing more, as often as it is closed', async ({ bus }) => {
    await Promise.all([bus.close(), bus.close()]);
    await bus.close();
    expect(await codeOf(bus.publish(busEvent('late')))).toBe('bus_closed');
    expect(await codeOf(bus.subscribe('late', () => undefined))).toBe('bus_closed');
  });

  test('a closed bus tells nothing more, and others go on', async ({ bus, other }) => {
    const heard = await collected(bus, 'news');
    const end = await bus.subscribe('news', () => undefined);
    await other.publish(busEvent('news'));
    await settled(other, bus);
    await bus.close();
    await end();
    if (bus !== other) {
      await other.publish(busEvent('news'));
      await settled(other, other);
    }
    expect(heard).toHaveLength(1);
  });

  test('a bus that nobody has used can be closed', async ({ bus, other }) => {
    await bus.close();
    await other.close();
  });
}
