import { eventually, testClock } from 'adjutant/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BackOff, defaultRetry, type ResolvedRetry } from './back-off.ts';

function backOff(options: Partial<ResolvedRetry>, chance = () => 1) {
  const clock = testClock();
  const made = new BackOff(
    { clock, random: { next: chance }, ids: { next: () => 'id' } },
    { ...defaultRetry, ...options },
  );
  /** Waits once; gives the milliseconds that it took, and whether there is another attempt. */
  const waited = async (atLeast?: number): Promise<{ ms: number; again: boolean }> => {
    const began = clock.monotonic();
    const again = await eventually(made.wait(undefined, atLeast), { clock, stepMs: 1 });
    return { ms: clock.monotonic() - began, again };
  };
  return { made, clock, waited };
}

describe('BackOff', () => {
  test('waits about twice as long each time, up to the longest', async () => {
    const { waited } = backOff({ initialDelayMs: 4, maxDelayMs: 20 });
    const waits: number[] = [];
    for (let i = 0; i < 5; i++) waits.push((await waited()).ms);
    expect(waits).toEqual([4, 8, 16, 20, 20]);
  });

  test('waits never exactly as long as others', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        async (chance) => {
          const { ms } = await backOff({ initialDelayMs: 40 }, () => chance).waited();
          expect(ms).toBeGreaterThanOrEqual(20);
          expect(ms).toBeLessThanOrEqual(41);
        },
      ),
      { numRuns: 20 },
    );
  });

  test('waits as long as the server asks, unless that is longer than it may', async () => {
    const { waited, made } = backOff({ initialDelayMs: 4, giveUpAfterMs: 100 });
    expect(await waited(30)).toEqual({ ms: 30, again: true });
    expect(await made.wait(undefined, 200)).toBe(false);
  });

  test('gives up when its time is over, with a last attempt then', async () => {
    const { waited, made } = backOff({ initialDelayMs: 40, giveUpAfterMs: 100 });
    expect([await waited(), await waited()]).toEqual([
      { ms: 40, again: true },
      { ms: 60, again: true },
    ]);
    expect(await made.wait(undefined)).toBe(false);
    expect(made.triedFor).toBe(100);
    expect(await backOff({ giveUpAfterMs: 0 }).made.wait(undefined)).toBe(false);
  });

  test(
    'begins anew when the server was there, and waits short again when it did what ' + 'was asked',
    async () => {
      const { waited, made } = backOff({ initialDelayMs: 4, maxDelayMs: 1_000, giveUpAfterMs: 30 });
      await waited();
      await waited();
      made.reached();
      expect(made.triedFor).toBe(0);
      expect(await waited()).toEqual({ ms: 16, again: true });
      made.succeeded();
      expect(await waited()).toEqual({ ms: 4, again: true });
      made.succeeded();
      made.prefer(10);
      expect(await waited()).toEqual({ ms: 10, again: true });
    },
  );

  test('ends a wait that nobody wants any more', async () => {
    const { made } = backOff({});
    const leaving = new AbortController();
    const waiting = made.wait(leaving.signal);
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    await expect(made.wait(leaving.signal)).rejects.toThrow('left');
  });
});
