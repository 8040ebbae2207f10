import { agent } from 'adjutant';
import { graph } from 'adjutant/plan';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { app, decisions, gives, passes } from './nodes.ts';

describe('joins', () => {
  const slow = (name: string) =>
    agent({ name, model: scriptedModel([{ text: 'late', delayMs: 600_000 }]) });

  test('any begins with the first, and the work for it alone is cancelled', async () => {
    const race = graph({
      name: 'race',
      nodes: { quick: gives('quick', 1), slow: slow('slow'), first: passes('first') },
      edges: [
        { from: 'quick', to: 'first' },
        { from: 'slow', to: 'first' },
      ],
      start: ['quick', 'slow'],
      joins: { first: 'any' },
    });
    const { output, session } = await app().run(race);
    expect(output).toEqual({ quick: 1 });
    expect(decisions(session.events, 'join')).toEqual([
      { node: 'first', visit: 1, winners: ['quick'], cancelled: ['slow'] },
    ]);
  });

  test('work that leads elsewhere too goes on', async () => {
    const shared = graph({
      name: 'shared',
      nodes: {
        quick: gives('quick', 1),
        also: passes('also'),
        first: passes('first'),
        other: passes('other'),
      },
      edges: [
        { from: 'quick', to: 'first' },
        { from: 'also', to: 'first' },
        { from: 'also', to: 'other' },
      ],
      start: ['quick', 'also'],
      joins: { first: 'any' },
    });
    const { output } = await app().run(shared);
    expect(output).toMatchObject({ other: 'nothing' });
  });

  test('a number waits for so many, and fails when they cannot come any more', async () => {
    const votes = (third: boolean) =>
      graph({
        name: 'votes',
        nodes: { a: gives('a', 1), b: gives('b', 2), c: gives('c', 3), two: passes('two') },
        edges: [
          { from: 'a', to: 'two' },
          { from: 'b', to: 'two', when: () => third },
          { from: 'c', to: 'two', when: () => false },
        ],
        start: ['a', 'b', 'c'],
        joins: { two: 2 },
      });
    expect((await app().run(votes(true))).output).toEqual({ a: 1, b: 2 });
    expect((await app().run(votes(false))).error).toMatchObject({
      code: 'too_few_joined',
      data: { node: 'two', needed: 2, taken: 1 },
    });
  });
});
