import type { EnginePlace } from 'adjutant/ports';

/** Version of the workflows that this package starts, and of the newest that it can carry out. */
export const workflowVersion = 1;
/** Name of the workflow of that version. */
export const burstWorkflow = 'adjutantBurst1';
/** Longest time of a burst; work that takes longer goes on without it. */
export const burstTimeout = '10 minutes';
export const wakeSignal = 'wake';

/** Ids in Temporal. Parts are encoded, so that those of two sessions are never the same. */
const idOf = (...parts: readonly string[]): string =>
  ['adjutant', ...parts.map((part) => encodeURIComponent(part))].join(':');

/** Id of the workflow of a session. Another wake of it is a signal to that workflow. */
export const burstId = (app: string, { tenant, session }: EnginePlace): string =>
  idOf(app, 'session', tenant, session);
/** Id of a workflow that takes the next session of the queue; as many run as are started. */
export const queueId = (app: string, unique: string): string => idOf(app, 'queue', unique);
/** Id of the workflow that wakes a session at a time; of one session the last time counts. */
export const timerId = (app: string, place: EnginePlace | undefined, at: number): string =>
  place === undefined
    ? idOf(app, 'time', String(at))
    : idOf(app, 'timer', place.tenant, place.session);
/** Id of the Schedule of a session that names its times again and again, such as a trigger. */
export const repeatId = (app: string, { tenant, session }: EnginePlace): string =>
  idOf(app, 'trigger', tenant, session);
export const sweepId = (app: string): string => idOf(app, 'sweep');
export const defaultTaskQueue = (app: string): string => `adjutant-${app}`;
