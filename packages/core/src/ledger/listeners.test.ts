import { expect, test } from 'vitest';
import { Listeners } from './listeners.ts';

test('a listener that removes itself is not told the rest of the news', () => {
  const listeners = new Listeners<number>();
  const told: number[] = [];
  const forget = listeners.add((one) => {
    told.push(one);
    forget();
  });
  const all: number[] = [];
  listeners.add((one) => void all.push(one));
  listeners.tellAll([1, 2, 3]);
  expect(told).toEqual([1]);
  expect(all).toEqual([1, 2, 3]);
});
