import { expect, test } from 'vitest';
import { type Host, systemHost } from '../../base/host.ts';
import { FreedPlaces } from './freed-places.ts';

/** Places of a process with 8, on a machine whose timers fire when the test says so. */
function desk() {
  const timers: { readonly ms: number; readonly task: () => void }[] = [];
  const host: Host = {
    ...systemHost,
    setBackgroundTimer: (ms, task) => {
      const timer = { ms, task };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
  };
  const looks: number[] = [];
  const places = new FreedPlaces(host, 8, () => looks.push(looks.length));
  return { places, timers, looks };
}

test('the queue is asked at once while it has not filled all places', () => {
  const { looks, places, timers } = desk();
  places.freed();
  places.looked(8, 3, 1);
  places.freed();
  expect(looks).toHaveLength(2);
  expect(timers).toHaveLength(0);
});

test('a full queue is asked when half of the places are free', () => {
  const { looks, places, timers } = desk();
  places.looked(8, 8, 1);
  for (let i = 0; i < 3; i++) places.freed();
  expect(looks).toHaveLength(0);
  places.freed();
  expect(looks).toHaveLength(1);
  places.looked(4, 4, 1);
  expect(timers).toHaveLength(0);
});

test.each([
  [1, 50],
  [30, 120],
  [1_000, 250],
])('after a look of %i ms a free place waits %i ms for others', (took, waits) => {
  const { looks, places, timers } = desk();
  places.looked(8, 8, took);
  places.freed();
  places.freed();
  expect(timers.map(({ ms }) => ms)).toEqual([waits]);
  timers[0]?.task();
  expect(looks).toHaveLength(1);
});

test('nothing is asked after the stop', () => {
  const { looks, places, timers } = desk();
  places.looked(8, 8, 1);
  places.freed();
  places.stop();
  expect(timers).toHaveLength(0);
  expect(looks).toHaveLength(0);
});
