import type { Runnable } from '../session/runnable.ts';

/**
 * Runnable of `adjutant/plan`. It brings its own body (`engine/invoke/composed-body.ts`), so that
 * only those who import the subpath load it.
 */
export interface Composed extends Runnable {
  readonly kind: 'plan' | 'graph' | 'router';
  /** Runnables that it may start. They are registered with it. */
  readonly parts: readonly Runnable[];
}
