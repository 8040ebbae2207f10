import type { CreatureState } from './states.ts';

const paths: Readonly<Record<CreatureState, string | undefined>> = {
  idle: undefined,
  activating: 'M5 2v3M5 8h.01',
  working: 'M2 5a3 3 0 1 1 3 3',
  completing: 'M2 5.2l2 2 4-4.5',
  error: 'M2.5 2.5l5 5M7.5 2.5l-5 5',
  yielding: 'M3.5 2.5v5M6.5 2.5v5',
  spawning: 'M5 2v6M2 5h6',
};

/** Shape of a state, beside its word. */
export function StateGlyph({ state }: { readonly state: CreatureState }) {
  const path = paths[state];
  if (path === undefined) return null;
  return (
    <svg
      viewBox="0 0 10 10"
      width={10}
      height={10}
      fill="none"
      stroke="currentColor"
      strokeWidth={1.6}
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  );
}
