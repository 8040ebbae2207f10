import { agent, includeHistory, injectSystemMessage, parseModelName, runtime, type Store } from 'adjutant';
import { defineEval, type EvalDefinition } from 'adjutant/eval';

/** The address of the model comes with the environment: the test serves it. */
const model = parseModelName(process.env['EVAL_MODEL'] ?? 'rehearsal');
const careful = agent({ name: 'careful', model, context: [injectSystemMessage('Think before you answer.'), includeHistory()] });
const hasty = agent({ name: 'hasty', model, context: [injectSystemMessage('Answer at once.'), includeHistory()] });

// biome-ignore lint/style/noDefaultExport: what adjutant eval looks for
export default function capitals({ store }: { readonly store: Store }): EvalDefinition {
  const app = runtime({ app: 'geography', store, runnables: [careful, hasty] });
  return defineEval({
    name: 'Capitals',
    dataset: new URL('capitals.json', import.meta.url),
    variants: [
      { name: 'careful', app, runnable: careful },
      { name: 'hasty', app, runnable: hasty },
    ],
    threshold: 0.9,
    concurrency: 1,
  });
}
