import type { CreatureName } from '../../../creatures/registry.ts';
import type { CreatureState } from '../../../creatures/states.ts';
import type { Shown } from './shown.ts';

/** Milliseconds after which the demo begins again. */
export const demoMs = 18_000;

/** Change of the demo: instant, creature, its state, and the event that it stands for. */
type Change = readonly [at: number, CreatureName, CreatureState, note?: string];

/**
 * A made-up chain of work, so that the page can be seen without traffic. It has no figures: none of
 * its words can be taken for a number of the app.
 */
const changes: readonly Change[] = [
  [0, 'ibis', 'activating', 'a message'],
  [300, 'ibis', 'working', 'kernel_classify'],
  [1_500, 'ibis', 'completing'],
  [1_700, 'clockwork', 'activating'],
  [2_000, 'ibis', 'idle'],
  [2_000, 'clockwork', 'working', 'task_enqueue'],
  [3_400, 'clockwork', 'completing'],
  [3_500, 'roc', 'activating'],
  [3_800, 'roc', 'working', 'worker_start'],
  [3_900, 'clockwork', 'idle'],
  [4_000, 'golem', 'working', 'watches'],
  [6_800, 'roc', 'error', 'worker_error'],
  [7_700, 'phoenix-ash', 'spawning', 'debug_spawn'],
  [8_300, 'phoenix-ash', 'working', 'reads the ledger'],
  [9_000, 'roc', 'working', 'second try'],
  [11_400, 'phoenix-ash', 'completing'],
  [11_900, 'phoenix-ash', 'idle'],
  [12_000, 'scribe', 'activating'],
  [12_300, 'scribe', 'working', 'a high task'],
  [13_500, 'clockwork', 'working', 'task_preempt'],
  [13_800, 'roc', 'yielding', 'worker_preempt'],
  [15_000, 'clockwork', 'idle'],
  [15_600, 'scribe', 'completing', 'worker_complete'],
  [16_100, 'scribe', 'idle'],
  [16_600, 'roc', 'completing', 'worker_complete'],
  [16_800, 'golem', 'idle'],
  [17_100, 'roc', 'idle'],
];

/** Returns what each creature of the demo does so long after its beginning. */
export function demoAt(elapsed: number): ReadonlyMap<CreatureName, Shown> {
  const at = elapsed % demoMs;
  const shown = new Map<CreatureName, Shown>();
  for (const [instant, creature, state, note] of changes)
    if (instant <= at) shown.set(creature, { state, ...(note === undefined ? {} : { note }) });
  return shown;
}

/** Returns the milliseconds from then to the next change of the demo. */
export function untilNextChange(elapsed: number): number {
  const at = elapsed % demoMs;
  return (changes.find(([instant]) => instant > at)?.[0] ?? demoMs) - at;
}
