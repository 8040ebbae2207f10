import { describe, expect, it } from 'vitest';
import { stateMs } from '../../../creatures/states.ts';
import { demoAt, demoMs, untilNextChange } from './demo.ts';
import { nextShown, type Shown } from './shown.ts';
import type { Sign } from './signs.ts';

const work: Sign = { state: 'working', note: 'webSearch', session: 's' };
const rest: Sign = { state: 'idle' };

function follow(signs: readonly (readonly [at: number, Sign])[], isSpawned = false): Shown[] {
  let shown: Shown = { state: 'idle' };
  return signs.map(([at, sign]) => {
    shown = nextShown(shown, sign, at, isSpawned);
    return shown;
  });
}

describe('what is drawn', () => {
  it('begins work with a pulse of 300 ms and ends it with a flash of 500 ms', () => {
    const shown = follow([
      ...([
        [0, work],
        [299, work],
        [300, work],
        [5_000, work],
      ] as const),
      ...([
        [6_000, rest],
        [6_499, rest],
        [6_500, rest],
      ] as const),
    ]);
    expect(shown.map(({ state }) => state)).toEqual([
      ...['activating', 'activating', 'working', 'working', 'completing', 'completing', 'idle'],
    ]);
    expect(shown[0]).toMatchObject({ until: stateMs.activating, note: 'webSearch', session: 's' });
  });

  it('lets a creature that is called in appear for 600 ms', () => {
    const shown = follow(
      [
        [0, work],
        [599, work],
        [600, work],
      ],
      true,
    );
    expect(shown.map(({ state }) => state)).toEqual(['spawning', 'spawning', 'working']);
  });

  it('shows failures and waits at once, and work after them with a pulse', () => {
    const shown = follow([
      ...([
        [0, { state: 'error' }],
        [1, work],
        [400, { state: 'yielding' }],
        [401, rest],
      ] as const),
    ]);
    expect(shown.map(({ state }) => state)).toEqual(['error', 'activating', 'yielding', 'idle']);
  });

  it('does not begin anything at the first look', () => {
    expect(nextShown(undefined, work, 0)).toEqual(work);
    expect(nextShown(undefined, rest, 0)).toEqual(rest);
  });

  it('ends work that was shorter than its pulse', () => {
    expect(
      follow([
        [0, work],
        [100, rest],
      ]).map(({ state }) => state),
    ).toEqual([...['activating', 'completing']]);
  });
});

describe('the demo', () => {
  it('has each state, and begins again', () => {
    const states = new Set<string>(['idle']);
    let at = 0;
    for (; at < demoMs; at += untilNextChange(at))
      for (const { state } of demoAt(at).values()) states.add(state);
    expect(at).toBe(demoMs);
    expect([...states].sort()).toEqual([
      ...['activating', 'completing', 'error', 'idle', 'spawning', 'working', 'yielding'],
    ]);
    expect(demoAt(demoMs + 400)).toEqual(demoAt(400));
  });

  it('keeps the times of the states that pass', () => {
    expect(demoAt(7_700).get('phoenix-ash')?.state).toBe('spawning');
    expect(untilNextChange(7_700)).toBe(stateMs.spawning);
    expect(demoAt(6_800).get('roc')?.state).toBe('error');
    expect(untilNextChange(6_800)).toBe(stateMs.error);
  });

  it('names the events of kernel and workers, and no figure', () => {
    const notes = new Set<string>();
    for (let at = 0; at < demoMs; at += 100)
      for (const { note } of demoAt(at).values()) if (note !== undefined) notes.add(note);
    for (const event of [
      ...['kernel_classify', 'task_enqueue', 'worker_start', 'worker_complete', 'worker_error'],
      ...['debug_spawn', 'worker_preempt', 'task_preempt'],
    ])
      expect(notes).toContain(event);
    expect([...notes].join(' ')).not.toMatch(/\d/);
  });
});
