import {
  agent,
  type Event,
  memoryStore,
  type Runnable,
  type Runtime,
  type RuntimeOptions,
  runtime,
  type Session,
  tool,
} from 'adjutant';
import { eventually, roundModel, type ScriptedResponse, type TestClock } from 'adjutant/testing';
import { z } from 'zod';

export interface Stage {
  readonly app: Runtime;
  readonly root: Runnable;
  readonly clock: TestClock;
  /** Resolves when the tool `hang` has begun; it ends with `letGo`. */
  readonly begun: Promise<void>;
  readonly letGo: () => void;
  /** Ends the tool `rest`. */
  readonly letRest: () => void;
}

export interface Feature {
  define(tools: Tools): Runnable;
  readonly options?: Partial<RuntimeOptions>;
  act(stage: Stage): Promise<Session>;
  /** True for an event that the record must have, so that it is about the feature. */
  has(event: Event): boolean;
}

export type Tools = Pick<ReturnType<typeof hanging>, 'hang' | 'rest'>;

export const none = z.object({});
export const hours = 3_600_000;

export function hanging() {
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const hang = tool({
    name: 'hang',
    description: 'Takes its time',
    schema: none,
    timeoutMs: 5_000,
    execute: async () => {
      begun.resolve();
      await over.promise;
      return 'done after all';
    },
  });
  const rested = Promise.withResolvers<void>();
  const rest = tool({
    name: 'rest',
    description: 'Rests',
    schema: none,
    timeoutMs: 600_000,
    execute: () => rested.promise.then(() => 'rested'),
  });
  return { hang, rest, begun: begun.promise, letGo: over.resolve, letRest: rested.resolve };
}

export const callOf = (name: string): ScriptedResponse => ({ toolCalls: [{ name, args: {} }] });
export const pay = (approval: object) =>
  tool({
    name: 'pay',
    description: 'Pays',
    schema: none,
    recovery: 'report',
    approval,
    execute: () => 'paid',
  });
export const paying = (approval: object) =>
  agent({
    name: 'payer',
    model: roundModel([callOf('pay'), { text: 'Paid.' }]),
    tools: [pay(approval)],
  });

export async function run({ app, root }: Stage, input = 'Go', id = 'run'): Promise<Session> {
  return (await app.run(root, { session: 's', input, runId: id })).session;
}

/** Lets time pass until something has come. */
export async function inTime<Value>(coming: PromiseLike<Value>, clock: TestClock): Promise<Value> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  coming.then(over, over);
  await eventually(() => isOver, { what: 'the end', clock, stepMs: 50 });
  return coming;
}

export const requestOf = ({ ledger }: Session): string =>
  [...ledger.requests.values()][0]?.requestId ?? '';
export const ofType = (type: Event['type']) => (event: Event) => event.type === type;
export const decided = (decision: string) => (event: Event) =>
  event.type === 'decision' && event.decision === decision;

/** The app of a feature, as each process makes it. */
export function stageOf({ define, options = {} }: Feature, clock: TestClock): Stage {
  const { hang, rest, begun, letGo, letRest } = hanging();
  const root = define({ hang, rest });
  const app = runtime({
    app: 'features',
    recover: 'manual',
    store: memoryStore({ clock }),
    ports: { clock },
    ...options,
    runnables: [root, ...(options.runnables ?? [])],
  });
  return { app, root, clock, begun, letGo, letRest };
}
