/** State in which a creature is shown. */
export const creatureStates = [
  'idle',
  'activating',
  'working',
  'completing',
  'error',
  'yielding',
  'spawning',
] as const;
export type CreatureState = (typeof creatureStates)[number];

/** Milliseconds that a passing state lasts, or the animation at the beginning of a lasting one. */
export const stateMs = {
  activating: 300,
  completing: 500,
  error: 900,
  yielding: 400,
  spawning: 600,
} as const;

/** Word for each state: it says what colour and movement say. */
export const stateWords: Readonly<Record<CreatureState, string>> = {
  idle: 'idle',
  activating: 'starting',
  working: 'working',
  completing: 'done',
  error: 'failed',
  yielding: 'waiting',
  spawning: 'called in',
};
