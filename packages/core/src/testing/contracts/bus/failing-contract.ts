import { eventually } from '../../kit/eventually.ts';
import { contractExpect as expect } from '../store/contract-expect.ts';
import { busEvent, collected, settled } from './bus-events.ts';
import type { BusTest, DefineBusTest } from './bus-under-test.ts';

export function failingContract(test: DefineBusTest): void {
  test('a callback that throws does not end its subscription, nor others', async (given) => {
    const { bus, other } = given;
    let calls = 0;
    await other.subscribe('news', () => {
      calls++;
      throw new Error('This callback fails.');
    });
    await other.subscribe('news', () => Promise.reject(new Error('This promise is rejected.')));
    const heard = await collected(other, 'news');
    await bus.publish(busEvent('news'));
    await bus.publish(busEvent('news'));
    await settled(bus, other);
    expect(calls).toBe(2);
    expect(heard).toHaveLength(2);
  });

  test('a lost connection is made again, and what may be lost is said', async (given) => {
    const { bus, other, interrupt, skip } = given;
    if (interrupt === undefined) return skip('the bus has no connection');
    let missed = 0;
    const heard: unknown[] = [];
    await other.subscribe('news', ({ data }) => heard.push(data), { onMissed: () => missed++ });
    await bus.publish(busEvent('news', 'before'));
    await settled(bus, other);
    let isRefused = false;
    await interrupt(async () => {
      await bus.publish(busEvent('news', 'meanwhile')).catch(() => {
        isRefused = true;
      });
    });
    await connected(given);
    expect(heard[0]).toBe('before');
    const isTold = isRefused || missed > 0 || heard.includes('meanwhile');
    expect(isTold, 'the event came, was refused, or was said to be lost').toBe(true);
    expect(new Set(heard).size, 'events that came once').toBe(heard.length);
  });
}

/** Publishes until an event arrives: until the connections are made again. */
async function connected({ bus, other }: BusTest): Promise<void> {
  const heard = await retried(() => collected(other, 'again'));
  let attempt: Promise<void> | undefined;
  await eventually(
    () => {
      attempt ??= bus
        .publish(busEvent('again'))
        .catch(() => undefined)
        .finally(() => {
          attempt = undefined;
        });
      return heard.length > 0;
    },
    { what: 'an event over the new connection', patienceMs: 30_000 },
  );
  await attempt;
}

/** Repeats what fails while there is no connection. */
async function retried<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 1_000) throw error;
    }
  }
}
