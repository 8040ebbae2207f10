import { type Runtime, runtime, type Store } from 'adjutant';

export const inApp = (store: Store): Runtime => runtime({ app: 'evals', store, recover: 'manual' });
