import fc from 'fast-check';
import { expect, test } from 'vitest';
import { World } from '../../../src/testing/simulation/world.ts';

test('tasks run by their time, and those of one time in the order of their coming', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ ms: fc.nat(20), isCancelled: fc.boolean() })),
      async (tasks) => {
        const world = new World(1, false);
        const ran: number[] = [];
        for (const [index, { ms, isCancelled }] of tasks.entries()) {
          const cancel = world.after(ms, () => void ran.push(index));
          if (isCancelled) cancel();
        }
        await world.runUntil(20);
        const wanted = tasks
          .map((task, index) => ({ ...task, index }))
          .filter(({ isCancelled }) => !isCancelled)
          .sort((left, right) => left.ms - right.ms || left.index - right.index);
        expect(ran).toEqual(wanted.map(({ index }) => index));
        expect(world.steps).toBe(ran.length);
        expect(world.elapsed).toBe(20);
      },
    ),
    { numRuns: 50 },
  );
});

test('time passes only when nothing is ready any more', async () => {
  const world = new World(1, false);
  const times: number[] = [];
  world.after(5, async () => {
    for (let hop = 0; hop < 50; hop++) await Promise.resolve();
    times.push(world.elapsed);
    world.after(0, () => times.push(world.elapsed));
  });
  world.after(6, () => times.push(world.elapsed));
  await world.runUntil(100);
  expect(times).toEqual([5, 5, 6]);
});

test('tasks after the end wait for the next end', async () => {
  const world = new World(1, false);
  const times: number[] = [];
  world.after(30, () => times.push(world.elapsed));
  await world.runUntil(29.9);
  expect(times).toEqual([]);
  await world.runUntil(30);
  expect(times).toEqual([30]);
});

test('a failure ends the simulation at the task in which it happened', async () => {
  const world = new World(1, false);
  const ran: string[] = [];
  world.after(1, () => world.fail(new Error('first')));
  world.after(2, () => ran.push('later'));
  await expect(world.runUntil(10)).rejects.toThrow('first');
  expect(ran).toEqual([]);
});

test('the trace has the time and the text of each line, and no idle line is told', () => {
  const lines = (texts: readonly string[]): string => {
    const world = new World(1, true);
    for (const text of texts) world.note(text, text === 'idle');
    expect(world.story.some((line) => line.includes('idle'))).toBe(false);
    return world.trace;
  };
  expect(lines(['a', 'b'])).toBe(lines(['a', 'b']));
  expect(new Set([lines(['a', 'b']), lines(['b', 'a']), lines(['a', 'b', 'idle'])]).size).toBe(3);
});
