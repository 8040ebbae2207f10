/** Simulates two apps with errors of which nobody hears, and prints the rules that they break. */
import { step } from '../../../src/index.ts';
import { simulate } from '../../../src/testing/simulation/simulate.ts';

async function ruleBrokenBy(act: () => void) {
  const makeApp = () => ({
    app: 'stray',
    runnables: [
      step({
        name: 'clerk',
        execute: async (ctx) => {
          act();
          return ctx.complete('done');
        },
      }),
    ],
  });
  const options = { programs: [{ run: 'clerk' }], hours: 1, hoursPerSeed: 1 };
  const { failures } = await simulate(makeApp, options);
  const { rule, detail } = failures[0]?.broken[0] ?? {};
  return { rule, detail };
}

const rejected = await ruleBrokenBy(() => void Promise.reject(new Error('stray rejection')));
const thrown = await ruleBrokenBy(() =>
  process.nextTick(() => {
    throw new Error('stray throw');
  }),
);
process.stdout.write(JSON.stringify({ rejected, thrown }));
