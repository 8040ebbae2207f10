/**
 * A process that serves an app in which things fail that nobody waits for: `guarded-process.ts
 * <GuardedOrder as JSON>`.
 */
import { EventEmitter } from 'node:events';
import { flushCompileCache } from 'node:module';
import { agent, runtime, tool } from 'adjutant';
import { roundModel, scriptedModel } from 'adjutant/testing';
import { z } from 'zod';
import { type ServeOptions, serve } from '../../../src/index.ts';

/** Failure in the run of the agent of this name. */
export type Failing = 'rejection' | 'listener' | 'timer' | 'connection' | 'unprintable';

export interface GuardedOrder {
  readonly options?: ServeOptions;
  readonly hasOnError?: boolean;
  /** True when the app has listeners of its own. */
  readonly listensItself?: boolean;
  /** Servers in this process. */
  readonly servers?: number;
}

export type GuardedReport =
  | { readonly type: 'listening'; readonly urls: readonly string[] }
  | { readonly type: 'told'; readonly code: string; readonly cause: string }
  | { readonly type: 'own'; readonly event: string }
  | { readonly type: 'listeners'; readonly counts: readonly number[] };

const {
  options,
  hasOnError = false,
  listensItself = false,
  servers = 1,
} = JSON.parse(process.argv[2] ?? '') as GuardedOrder;

function tell(report: GuardedReport): void {
  process.send?.(report);
}

function throwing(): never {
  throw new Error('Nobody waits for this.');
}

const failures: Readonly<Record<Failing, () => void>> = {
  rejection: () => void Promise.reject(new Error('Nobody waits for this.')),
  listener: () => {
    const emitter = new EventEmitter().on('news', throwing);
    setImmediate(() => emitter.emit('news'));
  },
  timer: () => void setTimeout(throwing),
  connection: () =>
    void setImmediate(() =>
      new EventEmitter().emit(
        'error',
        Object.assign(new Error('reset'), { syscall: 'read', code: 'ECONNRESET' }),
      ),
    ),
  unprintable: () => void Promise.reject({ toString: throwing }),
};

if (listensItself) {
  for (const event of ['unhandledRejection', 'uncaughtException'])
    process.on(event, () => tell({ type: 'own', event }));
}
const before = counts();
const failers = Object.entries(failures).map(([name, begin]) => {
  const execute = (): string => {
    begin();
    return 'begun';
  };
  const fail = tool({ name: 'fail', description: 'Fails', schema: z.object({}), execute });
  return agent({
    name,
    model: roundModel([{ toolCalls: [{ name: 'fail', args: {} }] }, { text: 'Done.' }]),
    tools: [fail],
  });
});
const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Here.' })) });
const app = runtime({ app: 'shop', runnables: [...failers, clerk] });
const onError = (error: unknown): void => {
  const { code = '', cause } = error as { readonly code?: string; readonly cause?: unknown };
  tell({ type: 'told', code, cause: cause instanceof Error ? cause.message : typeof cause });
};
const listening = await Promise.all(
  Array.from({ length: servers }, () =>
    serve(app, {
      port: 0,
      shutdown: { graceMs: 100 },
      ...(hasOnError ? { onError } : {}),
      ...options,
    }),
  ),
);
// It may be killed at any time.
flushCompileCache();
tell({ type: 'listening', urls: listening.map(({ url }) => url) });

function counts(): readonly number[] {
  return ['unhandledRejection', 'uncaughtException'].map((event) => process.listenerCount(event));
}

/**
 * Told to end: says how many listeners it had before, while it served, with one server less, and
 * after.
 */
process.once('message', async () => {
  const during = counts();
  await listening[0]?.close();
  const less = counts();
  for (const each of listening) await each.close({ closeApp: true });
  tell({ type: 'listeners', counts: [...before, ...during, ...less, ...counts()] });
  process.disconnect();
});
process.once('disconnect', () => process.exit());
