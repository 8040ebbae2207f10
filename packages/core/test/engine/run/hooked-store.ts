import { agent, type Store, tool } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

/** Lets everything that is ready have its turn, several times over. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++)
    await new Promise<void>((resolve) => setImmediate(resolve));
}

export const nothing = z.object({});
const ask = tool({
  name: 'ask',
  description: 'Asks somebody',
  schema: nothing,
  yieldSchema: z.object({ answer: z.string() }),
});

export function asker(name = 'asker') {
  return agent({
    name,
    model: scriptedModel([{ toolCalls: [{ name: 'ask', args: {} }] }, { text: 'Thanks.' }]),
    tools: [ask],
  });
}

interface Hooks {
  readonly before?: (method: string, args: readonly unknown[]) => Promise<void> | void;
  readonly after?: (method: string, args: readonly unknown[]) => Promise<void> | void;
}

/** A store that outlives its runtimes, with something done before or after each of its answers. */
export function hooked(inner: Store, { before, after }: Hooks = {}): Store {
  const wrap = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (['follow', 'read', 'readStored'].includes(String(name))) return value.bind(target);
        return async (...args: unknown[]) => {
          await before?.(String(name), args);
          const answer: unknown = await Reflect.apply(value, target, args);
          await after?.(String(name), args);
          return answer;
        };
      },
    });
  return {
    description: inner.description,
    admin: inner.admin,
    for: (scope) => wrap(inner.for(scope)),
    close: async () => undefined,
  };
}

export const scope = { tenant: 'default', app: 'attacks' };
