import { appendFileSync, readFileSync } from 'node:fs';
import type { Store } from 'adjutant';

/** A task that a worker took, for the first time or again. */
export interface TakenTask {
  readonly session: string;
  readonly tenant: string;
  /** Instant of the store. */
  readonly at: number;
}

/** Returns the store of a worker that notes in a file which tasks it takes. */
export function notingTaken(store: Store, file: string): Store {
  const admin = new Proxy(store.admin, {
    get(target, name) {
      const method = Reflect.get(target, name) as unknown;
      if (typeof method !== 'function') return method;
      if (name !== 'take') return method.bind(target) as unknown;
      return async (...args: Parameters<Store['admin']['take']>) => {
        const receipt = await target.take(...args);
        for (const { session, tenant } of receipt.taken)
          appendFileSync(file, `${JSON.stringify({ session, tenant, at: receipt.now })}\n`);
        return receipt;
      };
    },
  });
  return {
    description: store.description,
    admin,
    for: (scope) => store.for(scope),
    close: () => store.close(),
  };
}

/** Takes of all workers, in the order of the store's clock. */
export function readTaken(file: string): readonly TakenTask[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as TakenTask]))
    .sort((left, right) => left.at - right.at);
}
