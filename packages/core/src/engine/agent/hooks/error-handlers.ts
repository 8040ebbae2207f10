import { isPlainObject } from '../../../base/json.ts';
import type { ErrorAction, ErrorContext, ErrorHandler } from '../../../runnables/hooks.ts';
import { unusable } from './errors.ts';
import type { HookCaller } from './hook-caller.ts';

/**
 * Failure that error handlers are asked about: the members of `ErrorContext` that other hooks do
 * not get.
 */
export type HandledFailure = Pick<
  ErrorContext,
  'phase' | 'error' | 'attempt' | 'retryAfterMs' | 'mayRetry' | 'call' | 'result'
>;

/** Action of an error handler, with the name of the handler. */
export interface HandlerAction {
  readonly handler: string;
  readonly action: ErrorAction;
}

const actions: ReadonlySet<unknown> = new Set<ErrorAction['action']>([
  'throw',
  'skip',
  'abort',
  'retry',
  'fallback',
  'pass',
]);

/** Error handlers of one agent invocation: those of the app first. */
export class ErrorHandlers {
  readonly #handlers: readonly ErrorHandler[];
  readonly #caller: HookCaller;

  constructor(handlers: readonly ErrorHandler[], caller: HookCaller) {
    this.#handlers = handlers;
    this.#caller = caller;
  }

  get isEmpty(): boolean {
    return this.#handlers.length === 0;
  }

  /**
   * Returns the action of the first handler that does not pass; `undefined` when all of them pass.
   */
  async handle(failure: HandledFailure): Promise<HandlerAction | undefined> {
    for (const handler of this.#handlers) {
      const owner = `the error handler "${handler.name}"`;
      const action = await this.#caller.call({
        hook: 'handle',
        owner,
        call: (ctx) => {
          const context = Object.assign(Object.create(ctx), failure) as ErrorContext;
          return handler.canHandle === undefined || handler.canHandle(context)
            ? handler.handle(context)
            : undefined;
        },
        callId: failure.call?.callId,
      });
      if (action === undefined || action.action === 'pass') continue;
      if (!isPlainObject(action) || !actions.has(action.action))
        throw unusable('handle', owner, action, `{ action: ${[...actions].join(' | ')} }`);
      return { handler: handler.name, action };
    }
    return undefined;
  }
}

/**
 * Returns the milliseconds that a handler wants to wait; 0 when `delayMs` is not a positive number.
 */
export function delayOf({ delayMs }: { readonly delayMs?: unknown }): number {
  return typeof delayMs === 'number' && delayMs > 0
    ? Math.min(delayMs, Number.MAX_SAFE_INTEGER)
    : 0;
}
