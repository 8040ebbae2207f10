import type { StandInToolCall } from '../../../effects/stand-ins.ts';

/** A tool that is about to run and that the test holds back. */
export interface HeldTool {
  readonly name: string;
  readonly callId: string;
  readonly args: unknown;
  /** Runs the tool, and gives the run its result, unless `keeps` says to keep it. */
  run(keeps?: boolean): Promise<void>;
  /** Gives a value in the place of the tool's result. */
  give(make: (args: unknown) => unknown): void;
}

/** Tools that are held because a later step of the test is about them. Others run at once. */
export class ToolDesk {
  readonly #isAwaited: (tool: string) => boolean;
  readonly #held = new Set<HeldTool>();
  #entered = 0;

  /** @param isAwaited tells if a later step is about executions of this tool */
  constructor(isAwaited: (tool: string) => boolean) {
    this.#isAwaited = isAwaited;
  }

  /** Tools that wait, in the order in which they were reached. */
  get held(): readonly HeldTool[] {
    return [...this.#held];
  }

  /** Number of executions that have begun to run or to wait. */
  get entered(): number {
    return this.#entered;
  }

  enter({ name, callId, args, signal }: StandInToolCall, execute: () => unknown): unknown {
    this.#entered++;
    if (!this.#isAwaited(name)) return execute();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const end = (): void => {
      this.#held.delete(held);
      signal.removeEventListener('abort', onAbort);
    };
    const onAbort = (): void => {
      end();
      reject(signal.reason);
    };
    const held: HeldTool = {
      name,
      callId,
      args,
      run: async (keeps = false) => {
        end();
        const running = (async () => execute())();
        if (!keeps) return void running.then(resolve, reject);
        await running.catch(() => undefined);
      },
      give: (make) => {
        end();
        (async () => make(args))().then(resolve, reject);
      },
    };
    this.#held.add(held);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    return promise;
  }
}
