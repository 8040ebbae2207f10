import { expect, test } from 'vitest';
import { testClock } from './test-clock.ts';

test('stands still until it is advanced', () => {
  const clock = testClock(1_000);
  expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
  clock.advance(250);
  expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250]);
});

test('fires timers in order, each at its own time, also those that a timer sets', () => {
  const clock = testClock(0);
  const fired: string[] = [];
  const note = (name: string) => (): void => void fired.push(`${name}@${clock.now()}`);
  clock.setTimer(30, note('c'));
  clock.setTimer(10, () => {
    note('a')();
    clock.setTimer(5, note('b'));
  });
  clock.setTimer(30, note('d'));
  clock.setTimer(31, note('too late'));
  clock.advance(30);
  expect(fired).toEqual(['a@10', 'b@15', 'c@30', 'd@30']);
});

test('a cancelled timer does not fire', () => {
  const clock = testClock();
  let fired = false;
  const cancel = clock.setTimer(1, () => (fired = true));
  cancel();
  clock.advance(5);
  expect(fired).toBe(false);
});

test('cannot go backwards', () => {
  expect(() => testClock().advance(-1)).toThrow(RangeError);
});
