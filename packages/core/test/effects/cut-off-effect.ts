import { type EffectContext, type EffectOptions, runtime, type Store, step } from 'adjutant';
import { keptOpen } from 'adjutant/testing';

/** Arguments of an effect, and its next outcomes. */
export interface Charges {
  readonly entered: { readonly key: string; readonly attempt: number }[];
  readonly caught: unknown[];
}

export const noCharges = (): Charges => ({ entered: [], caught: [] });

/** A step whose effect charges a card, as a process has it. */
export function charging(charges: Charges, options?: EffectOptions) {
  return step({
    name: 'order',
    execute: async (ctx) => {
      const charge = ({ idempotencyKey: key, attempt }: EffectContext) => {
        charges.entered.push({ key, attempt });
        return `charged by attempt ${attempt}`;
      };
      try {
        return ctx.complete(await ctx.effect('charge', charge, options));
      } catch (error) {
        charges.caught.push(error);
        throw error;
      }
    },
  });
}

/** Runs a step on a session and leaves it in the middle of its effect, as a kill does. */
export async function cutOff(store: Store, key = 'charge', name = 'order'): Promise<void> {
  const app = runtime({ app: 'shop', store: keptOpen(store), recover: 'manual' });
  const { promise: isCharging, resolve } = Promise.withResolvers<void>();
  const hanging = step({
    name,
    execute: async (ctx) => {
      await ctx.effect(
        key,
        ({ signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
            resolve();
          }),
      );
    },
  });
  const running = app.run(hanging, { session: 's', runId: 'run' });
  await isCharging;
  running.stop();
  await running.then(undefined, () => undefined);
  await running.settled();
  await app.close();
}
