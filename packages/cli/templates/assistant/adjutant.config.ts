import { runtime } from 'adjutant';
import { assistant } from './src/agent.ts';
import { store } from './src/store.ts';

/** The app that every adjutant command in this folder works with. */
export const app = runtime({ app: 'my-app', store, runnables: [assistant] });

/** The runnable that `adjutant eval` measures. */
export const runnable = assistant;
