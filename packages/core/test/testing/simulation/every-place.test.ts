import { expect, test } from 'vitest';
import { Draws } from '../../../src/testing/simulation/draws.ts';
import { type FaultKind, FaultPlan } from '../../../src/testing/simulation/faults.ts';
import {
  type SeedOptions,
  type SeedOutcome,
  simulateSeed,
} from '../../../src/testing/simulation/simulate-seed.ts';
import { oneRun } from './small-app.ts';

/** A rate at which a fault happens wherever the plan allows it. */
const always = 10;

/** Options of a seed that has a kind of fault: each seed has only some of the kinds. */
function seedWith(kind: FaultKind): SeedOptions {
  const rates = { [kind]: always };
  for (let seed = 1; ; seed++)
    if (new FaultPlan(new Draws(seed), { rates }).has(kind)) return { ...oneRun(rates), seed };
}

/** Places of the calls of one machine about its session, in the order of the story. */
function callsIn({ story }: SeedOutcome): readonly string[] {
  const found = story.flatMap(
    (line) =>
      / p1\.\d+ (p1\/(?:append|claim|post|release|renew|head|inbox)[^#]* s0#\d+)/.exec(line)?.[1] ??
      [],
  );
  return [...new Set(found)];
}

async function placesWithout(options: SeedOptions): Promise<readonly string[]> {
  const calm = await simulateSeed({ ...options, onlyFaults: new Set(), keepsStory: true });
  expect(calm.broken).toEqual([]);
  const places = callsIn(calm);
  expect(places.length).toBeGreaterThan(5);
  return places;
}

test('commit_without_answer_everywhere: the store acts and its answer is lost', async () => {
  const options = seedWith('lostAnswer');
  for (const place of await placesWithout(options)) {
    const name = `lostAnswer@${place}`;
    const outcome = await simulateSeed({ ...options, onlyFaults: new Set([name]) });
    expect(outcome.faults, place).toEqual([name]);
    expect(outcome.broken, place).toEqual([]);
    expect(outcome.ends[0], place).toMatchObject({ status: 'completed', output: 'Paid.' });
  }
});

test('killed_process_is_silent: killed before or after any call of the store', async () => {
  const options = seedWith('stop');
  for (const place of await placesWithout(options))
    for (const when of ['before', 'after']) {
      const name = `stop@${place} ${when}`;
      const outcome = await simulateSeed({
        ...options,
        onlyFaults: new Set([name]),
        keepsStory: true,
      });
      expect(outcome.faults).toEqual([name]);
      expect(outcome.broken, name).toEqual([]);
      const killed = outcome.story.findIndex((line) => line.includes(' is killed at '));
      const after = outcome.story.slice(killed + 1);
      const dead = / (p1\.\d+) is killed/.exec(outcome.story[killed] ?? '')?.[1];
      expect(dead).toBeDefined();
      expect(after.filter((line) => line.split(' ')[1] === dead)).toEqual([]);
    }
});
