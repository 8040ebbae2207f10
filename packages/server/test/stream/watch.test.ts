import { testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { Watch } from '../../src/stream/watches/watch.ts';

/** Lets what was begun come to its next wait. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

function watched() {
  const clock = testClock();
  const looks: number[] = [];
  const errors: unknown[] = [];
  let failure: Error | undefined;
  let during = async (): Promise<void> => undefined;
  const watch = new Watch<number, number>(
    async (before) => {
      if (failure !== undefined) throw failure;
      looks.push(clock.monotonic());
      await during();
      return { known: looks.length, changes: before === undefined ? [] : [looks.length] };
    },
    { clock, settleMs: 250, onError: (error) => errors.push(error) },
  );
  const fail = (error: Error | undefined): void => {
    failure = error;
  };
  /** Looks take until the returned function is called. */
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    during = () => promise;
    return resolve;
  };
  return { clock, looks, watch, errors, fail, hold };
}

test('hints without end put no look off, and make four a second at most', async () => {
  const { clock, looks, watch } = watched();
  const heard: number[] = [];
  const { end } = await watch.listen((changes) => heard.push(...changes));
  for (let ms = 0; ms < 1_000; ms += 5) {
    watch.hint();
    clock.advance(5);
    await settled();
  }
  end();
  expect(looks.length).toBe(1 + 4);
  expect(heard).toEqual([2, 3, 4, 5]);
});

test('without a hint a look follows every second, while somebody listens', async () => {
  const { clock, looks, watch } = watched();
  const one = await watch.listen(() => undefined);
  const two = await watch.listen(() => undefined);
  for (let second = 0; second < 3; second++) {
    clock.advance(1_000);
    await settled();
  }
  expect(looks.length).toBe(4);
  one.end();
  two.end();
  clock.advance(10_000);
  watch.hint();
  await settled();
  expect(looks.length).toBe(4);
});

test('a hint during the first look is heeded soon', async () => {
  const { clock, looks, watch } = watched();
  const listening = watch.listen(() => undefined);
  watch.hint();
  const { end } = await listening;
  clock.advance(250);
  await settled();
  expect(looks.length).toBe(2);
  end();
});

test('looks that take long are far from each other', async () => {
  const { clock, looks, watch, hold } = watched();
  const { end } = await watch.listen(() => undefined);
  const release = hold();
  clock.advance(1_000);
  clock.advance(200);
  release();
  await settled();
  watch.hint();
  clock.advance(1_799);
  await settled();
  expect(looks.length).toBe(2);
  clock.advance(1);
  await settled();
  expect(looks.length).toBe(3);
  end();
});

test('a look that fails is told, and another one follows', async () => {
  const { clock, looks, watch, errors, fail } = watched();
  const { end } = await watch.listen(() => undefined);
  fail(new Error('away'));
  clock.advance(1_000);
  await settled();
  expect(errors).toMatchObject([{ message: 'away' }]);
  fail(undefined);
  clock.advance(1_000);
  await settled();
  expect(looks.length).toBe(2);
  end();
  fail(new Error('gone'));
  await expect(watch.listen(() => undefined)).rejects.toThrow('gone');
});
