/**
 * Makes a session in a SQLite file (the first argument) under an Idempotency-Key (the second), and
 * hangs when the session is made and the answer is about to be kept. Says so on stdout, to be
 * killed then.
 */
import { runtime, type Store } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { server } from '../src/index.ts';

const [, , file = '', key = ''] = process.argv;
const store = sqlite(file);
const hanging: Store = {
  ...store,
  admin: store.admin,
  for: (scope) =>
    new Proxy(store.for(scope), {
      get(target, name) {
        const method = Reflect.get(target, name) as (...given: unknown[]) => unknown;
        if (name !== 'append' || scope.app !== 'shop:http') return method.bind(target);
        return async (...given: unknown[]) => {
          if (!JSON.stringify(given).includes('"decision":"answer"'))
            return method.apply(target, given);
          process.stdout.write('made\n');
          return new Promise(() => undefined);
        };
      },
    }),
};
// Lives until it is killed.
process.stdin.resume();
const api = server(runtime({ app: 'shop', store: hanging, recover: 'manual' }));
const headers = { 'idempotency-key': key, 'content-type': 'application/json' };
await api.fetch(
  new Request('http://localhost/v1/sessions', { method: 'POST', headers, body: '{}' }),
);
