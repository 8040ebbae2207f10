import assert from 'node:assert/strict';
import { step } from '../../../runnables/step.ts';
import type { Runtime } from '../../../runtime.ts';
import type { Runnable } from '../../../session/runnable.ts';

/** A step that asks for a name. */
export const asking: Runnable = step({
  name: 'asking',
  execute: async (ctx) => ctx.complete(await ctx.ask('name', { message: 'Your name?' })),
});

/** Waits for the question of a session, and returns the id of the request. */
export async function question(app: Runtime, session: string): Promise<string> {
  for await (const { type } of app.follow(session)) if (type === 'invocation_yield') break;
  const [request] = await app.requests.list({ session });
  assert(request !== undefined);
  return request.requestId;
}

/** A job that notes the message of each execution. */
export function counted(): { readonly executed: readonly string[]; readonly job: Runnable } {
  const executed: string[] = [];
  const job = step({
    name: 'job',
    execute: (ctx) => {
      executed.push(ctx.message ?? '');
      return ctx.complete('done');
    },
  });
  return { executed, job };
}

/** A job that works until it is let go, or told to stop. */
export function held(): {
  readonly job: Runnable;
  /** Resolves when it is executed for the first time. */
  readonly begun: Promise<void>;
  readonly letEnd: () => void;
} {
  const begin = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const job = step({
    name: 'job',
    execute: async (ctx) => {
      begin.resolve();
      const stopped = new Promise<void>((resolve) =>
        ctx.signal.addEventListener('abort', () => resolve(), { once: true }),
      );
      await Promise.race([end.promise, stopped]);
      ctx.signal.throwIfAborted();
      return ctx.complete('done');
    },
  });
  return { job, begun: begin.promise, letEnd: () => end.resolve() };
}
