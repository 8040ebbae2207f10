import { type EffectOptions, type Runnable, runtime, type Store } from 'adjutant';
import { keptOpen } from 'adjutant/testing';
import { expect } from 'vitest';
import { charging, cutOff, noCharges } from './cut-off-effect.ts';

export const reason = 'The provider was asked.';
export const appOn = (store: Store, ...runnables: readonly Runnable[]) =>
  runtime({ app: 'shop', store: keptOpen(store), runnables, recover: 'manual' });

/** An app whose run failed because its effect was cut off and `report` was recorded. */
export async function failed(store: Store, options?: EffectOptions) {
  const charges = noCharges();
  await cutOff(store);
  const app = appOn(store, charging(charges, options));
  expect(await app.resume('s')).toMatchObject({ error: { code: 'effect_unknown' } });
  return { app, charges };
}
