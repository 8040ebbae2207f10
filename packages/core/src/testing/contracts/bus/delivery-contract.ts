import type { JsonValue } from '../../../base/json.ts';
import type { BusEvent } from '../../../bus/event-bus.ts';
import { contractExpect as expect } from '../store/contract-expect.ts';
import { busEvent, collected, settled } from './bus-events.ts';
import type { DefineBusTest } from './bus-under-test.ts';

const hostileTypes = [
  '__proto__.constructor',
  'toString',
  'a"b.c\\d',
  "it's.;drop-table",
  'mail.ürgent.📨',
  `${'x'.repeat(99)}.${'y'.repeat(100)}`,
];

const hostileData: readonly JsonValue[] = [
  null,
  0,
  '',
  [],
  '\u0000\u0001\u2028\ud800 half',
  JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
  { text: '\'"`$1 %s {0} \r\n\t' },
  '📨'.repeat(8_000),
  { depth: [[[[[[[[[[[[[[[['deep']]]]]]]]]]]]]]]] },
  1e308,
];

export function deliveryContract(test: DefineBusTest): void {
  deliveryRules(test);
  orderRules(test);
  subscriptionRules(test);
}

function deliveryRules(test: DefineBusTest): void {
  test('an event reaches every subscription that has its type, whole and once', async (given) => {
    const { bus, other } = given;
    const patterns = ['mail.received', 'mail.*', 'mail.**', '**', '*.received', '**.received'];
    const heard = await Promise.all(
      [bus, other].flatMap((each) => patterns.map((pattern) => collected(each, pattern))),
    );
    const missed = await Promise.all(
      ['mail', 'mail.received.*', '*', 'received', 'mail.re'].map((one) => collected(other, one)),
    );
    const event = busEvent('mail.received', { from: 'ada@example.com', sizes: [1, 2.5] });
    await bus.publish(event);
    await settled(bus, other);
    await settled(bus, bus);
    const ofType = heard.map((events) => events.filter(({ type }) => type === 'mail.received'));
    for (const events of ofType) expect(events).toEqual([event]);
    for (const events of missed) expect(events).toEqual([]);
  });

  test('`**` stands for any number of names, at every place', async ({ bus, other }) => {
    const around = await collected(other, 'a.**.z');
    const end = await collected(other, 'a.**');
    for (const type of ['a.z', 'a.b.z', 'a.z.c.z', 'a', 'a.b', 'b.a.z'])
      await bus.publish(busEvent(type));
    await settled(bus, other);
    expect(around.map(({ type }) => type)).toEqual(['a.z', 'a.b.z', 'a.z.c.z']);
    expect(end.map(({ type }) => type)).toEqual(['a.z', 'a.b.z', 'a.z.c.z', 'a', 'a.b']);
  });

  test('hostile types and data arrive as they are', async ({ bus, other }) => {
    const heard = await collected(other, '**');
    const events = hostileTypes.flatMap((type) => hostileData.map((data) => busEvent(type, data)));
    for (const event of events) await bus.publish(event);
    await settled(bus, other);
    expect(heard.slice(0, events.length)).toEqual(events);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('no subscriber can change what another gets', async ({ bus, other }) => {
    const faults: unknown[] = [];
    await other.subscribe('**', (event) => {
      try {
        (event.data as { list: number[] }).list.push(2);
      } catch (error) {
        faults.push(error);
      }
    });
    const heard = await collected(other, 'change.**');
    const data = { list: [1] };
    const event = busEvent('change', data);
    const published = bus.publish(event);
    data.list.push(3);
    await published;
    await settled(bus, other);
    expect(heard.map((each) => each.data)).toEqual([{ list: [1] }]);
    expect(faults.length).toBeGreaterThan(0);
  });
}

function orderRules(test: DefineBusTest): void {
  test('the events of each publisher come in its order', async ({ bus, other }) => {
    const heard = await collected(other, 'order.*');
    const sources = [
      [bus, 'one'],
      [other, 'two'],
    ] as const;
    const amount = 200;
    await Promise.all(
      sources.flatMap(([publisher, source]) =>
        // Nobody waits between two of them, and every tenth is large.
        Array.from({ length: amount }, (_, number) => {
          const text = number % 10 === 0 ? 'x'.repeat(20_000) : '';
          return publisher.publish(busEvent('order.now', { number, text }, source));
        }),
      ),
    );
    await settled(bus, other);
    await settled(other, other);
    const numbers = Array.from({ length: amount }, (_, number) => number);
    for (const [, source] of sources) {
      const ofSource = heard.filter((event) => event.source === source);
      expect(ofSource.map(numberOf), source).toEqual(numbers);
    }
  });

  test('an event that a callback publishes comes behind the present one', async (given) => {
    const { bus } = given;
    const published: Promise<void>[] = [];
    await bus.subscribe('first', () => {
      published.push(bus.publish(busEvent('second')));
    });
    const heard = await collected(bus, '*');
    await bus.publish(busEvent('first'));
    await settled(bus, bus);
    await Promise.all(published);
    await settled(bus, bus);
    const types = heard.map(({ type }) => type);
    expect(types).toEqual(['first', 'second']);
  });
}

function subscriptionRules(test: DefineBusTest): void {
  test('a subscription gets nothing from before it', async ({ bus, other }) => {
    await bus.publish(busEvent('early'));
    const heard = await collected(other, '**');
    await bus.publish(busEvent('late'));
    await settled(bus, other);
    expect(heard.map(({ type }) => type)[0]).toBe('late');
  });

  test('a subscription that has ended gets nothing more, others do', async ({ bus, other }) => {
    const ended: BusEvent[] = [];
    const end = await other.subscribe('news', (event) => ended.push(event));
    const heard = await collected(other, 'news');
    await bus.publish(busEvent('news', 1));
    await settled(bus, other);
    await end();
    await end();
    await bus.publish(busEvent('news', 2));
    await settled(bus, other);
    expect(ended.map(({ data }) => data)).toEqual([1]);
    expect(heard.map(({ data }) => data)).toEqual([1, 2]);
  });

  test('a callback may end its own subscription and those of others', async ({ bus, other }) => {
    const heard: string[] = [];
    const ends: (() => Promise<void>)[] = [];
    for (const name of ['a', 'b', 'c'])
      ends.push(
        await other.subscribe('news', () => {
          heard.push(name);
          if (name === 'a') for (const end of ends.slice(0, 2)) void end();
        }),
      );
    await bus.publish(busEvent('news'));
    await bus.publish(busEvent('news'));
    await settled(bus, other);
    expect(heard).toEqual(['a', 'c', 'c']);
  });

  test('one callback in two subscriptions is called for both', async ({ bus, other }) => {
    const heard: string[] = [];
    const callback = ({ type }: BusEvent): void => void heard.push(type);
    const end = await other.subscribe('news', callback);
    await other.subscribe('news', callback);
    await bus.publish(busEvent('news'));
    await settled(bus, other);
    expect(heard).toHaveLength(2);
    await end();
    await bus.publish(busEvent('news'));
    await settled(bus, other);
    expect(heard).toHaveLength(3);
  });
}

function numberOf({ data }: BusEvent): number {
  return (data as { readonly number: number }).number;
}
