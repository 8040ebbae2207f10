import { agent, includeHistory, injectSystemMessage, parseModelName, runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';

const model = parseModelName(process.env['EVAL_MODEL'] ?? 'rehearsal');
export const runnable = agent({ name: 'careful', model, context: [injectSystemMessage('Think before you answer.'), includeHistory()] });
export const app = runtime({ app: 'geography', store: sqlite(process.env['EVAL_STORE'] ?? ':memory:'), runnables: [runnable] });
