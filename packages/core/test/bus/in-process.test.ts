import { type BusEvent, type BusOptions, inProcessBus } from 'adjutant/bus';
import { busContract } from 'adjutant/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';

await busContract('in process', async () => {
  const bus = inProcessBus({ onError: () => undefined });
  return { bus, cleanup: () => bus.close() };
});

const event: BusEvent = { id: 'e', source: 'test', type: 'a.b', data: null, at: 1 };

test('all callbacks have been called when publish resolves', async () => {
  const bus = inProcessBus();
  let isCalled = false;
  await bus.subscribe('a.*', () => {
    isCalled = true;
  });
  const published = bus.publish(event);
  expect(isCalled).toBe(true);
  await published;
});

test('what a callback throws goes to onError, and a failing onError ends nothing', async () => {
  const failures: unknown[] = [];
  const bus = inProcessBus({
    onError: (error, { type }) => {
      failures.push([(error as Error).message, type]);
      throw new Error('onError fails');
    },
  });
  await bus.subscribe('**', () => {
    throw new Error('no');
  });
  await bus.publish(event);
  await bus.publish(event);
  expect(failures).toEqual([
    ['no', 'a.b'],
    ['no', 'a.b'],
  ]);
});

test('options that do not fit are refused', () => {
  expect(() => inProcessBus({ onError: 7 } as unknown as BusOptions)).toThrow(
    expect.objectContaining({ code: 'invalid_option' }),
  );
});

test('patterns have the types that a regular expression has', async () => {
  const name = fc.constantFrom('a', 'b');
  const parts = fc.array(fc.oneof(name, fc.constantFrom('*', '**')), {
    minLength: 1,
    maxLength: 7,
  });
  const names = fc.array(name, { minLength: 1, maxLength: 7 });
  await fc.assert(
    fc.asyncProperty(parts, names, async (pattern, type) => {
      const bus = inProcessBus();
      let heard = false;
      await bus.subscribe(pattern.join('.'), () => {
        heard = true;
      });
      await bus.publish({ ...event, type: type.join('.') });
      const source = pattern.map((part) =>
        part === '**' ? String.raw`(?:\w+\.)*` : `${part === '*' ? String.raw`\w+` : part}\\.`,
      );
      expect(heard).toBe(new RegExp(`^${source.join('')}$`).test(`${type.join('.')}.`));
    }),
    { numRuns: 1_000 },
  );
});

test('a pattern with many stars is no burden', async () => {
  const bus = inProcessBus();
  let heard = 0;
  await bus.subscribe(`${'**.a.'.repeat(38)}b`, () => heard++);
  for (let count = 0; count < 1_000; count++)
    await bus.publish({ ...event, type: Array.from({ length: 100 }, () => 'a').join('.') });
  expect(heard).toBe(0);
});
