import { expect, test } from 'vitest';
import { testClock } from '../../base/clocks/test-clock.ts';
import { eventually } from './eventually.ts';

test('goes on when the condition holds, at once or after some turns', async () => {
  await eventually(() => true, { patienceMs: 1 });
  let turns = 0;
  await eventually(() => ++turns === 500);
  expect(turns).toBe(500);
});

test('gives what a promise gives, and throws what it throws', async () => {
  expect(await eventually(Promise.resolve(5))).toBe(5);
  expect(await eventually(Promise.resolve(undefined))).toBeUndefined();
  await expect(eventually(Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(
    eventually(() => {
      throw new Error('not so');
    }),
  ).rejects.toThrow('not so');
});

test('lets time pass on a clock, in steps', async () => {
  const clock = testClock();
  const fired: number[] = [];
  const waited = new Promise<number>((resolve) => {
    clock.setTimer(60_000, () => {
      fired.push(clock.monotonic());
      resolve(clock.monotonic());
    });
  });
  expect(await eventually(waited, { clock, stepMs: 25_000 })).toBe(60_000);
  expect(fired).toEqual([60_000]);
  const before = clock.monotonic();
  await eventually(() => clock.monotonic() >= before + 250, { clock });
  expect(clock.monotonic()).toBe(before + 300);
});

test('says what has not come', async () => {
  const never = new Promise(() => undefined);
  await expect(
    eventually(() => false, { what: 'the answer', patienceMs: 5 }),
  ).rejects.toMatchObject({
    code: 'never_happened',
    message: 'the answer has not come within 5 ms.',
  });
  await expect(eventually(never, { patienceMs: 5 })).rejects.toMatchObject({
    code: 'never_happened',
  });
});

test('what cannot be meant is refused', async () => {
  await expect(eventually(5 as never)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('a condition or a promise'),
  });
  await expect(eventually(() => true, { clok: testClock() } as object)).rejects.toMatchObject({
    code: 'invalid_option',
  });
  await expect(eventually(() => true, { stepMs: 0 })).rejects.toThrow(/`stepMs` must be/);
});
