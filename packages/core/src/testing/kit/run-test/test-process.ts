import type { TestClock } from '../../../base/clocks/test-clock.ts';
import { toErrorRecord } from '../../../base/error.ts';
import type { StandIns } from '../../../effects/stand-ins.ts';
import type { RuntimeOptions } from '../../../engine/app/runtime-options.ts';
import type { Run, RunResult } from '../../../engine/run/run.ts';
import type { Store } from '../../../ledger/port.ts';
import { Runtime } from '../../../runtime.ts';
import { crashingStore, takingOver } from '../../contracts/crash/crashing-store.ts';
import { ProcessClock } from '../process-clock.ts';
import { CountedStore } from './counted-store.ts';
import { ModelDesk } from './model-desk.ts';
import type { TestModelCall } from './steps.ts';
import { ToolDesk } from './tool-desk.ts';

export interface ProcessParts {
  readonly store: Store;
  readonly clock: TestClock;
  readonly options: Omit<RuntimeOptions, 'store' | 'recover'>;
  /** Every model call of the test. */
  readonly calls: TestModelCall[];
  readonly nextId: () => string;
  readonly isAwaited: (tool: string) => boolean;
}

/**
 * The end of a run in this process: its result, or the error that kept it from being carried out.
 */
export type RunOutcome = { readonly result: RunResult } | { readonly error: unknown };

/** A process of the test: a runtime, and everything that is lost when the process stops. */
export class TestProcess {
  readonly app: Runtime;
  readonly models: ModelDesk;
  readonly tools: ToolDesk;
  readonly clock: ProcessClock;
  readonly counted: CountedStore;
  readonly #line: ReturnType<typeof crashingStore>;
  #run: Run | undefined;
  #outcome: RunOutcome | undefined;
  #isSettled = true;

  constructor({ store, clock, options, calls, nextId, isAwaited }: ProcessParts) {
    this.clock = new ProcessClock(clock);
    this.models = new ModelDesk(this.clock, calls, nextId);
    this.tools = new ToolDesk(isAwaited);
    this.counted = new CountedStore(takingOver(store));
    this.#line = crashingStore(this.counted.store);
    const standIns: StandIns = {
      model: (model, call) => this.models.modelFor(model, call),
      tool: (call, execute) => this.tools.enter(call, execute),
    };
    this.app = new Runtime({
      ...options,
      store: this.#line.store,
      recover: 'manual',
      ports: { ...options.ports, clock: this.clock, standIns },
    });
  }

  /** True when any part of a run is under way, even if only its detached work. */
  get isActive(): boolean {
    return !this.#isSettled;
  }

  /** The outcome of the last run; `undefined` while it goes on. */
  get outcome(): RunOutcome | undefined {
    return this.#outcome;
  }

  follow(run: Run): void {
    this.#run = run;
    this.#outcome = undefined;
    this.#isSettled = false;
    const ended = (outcome: RunOutcome): void => {
      if (this.#run === run) this.#outcome = outcome;
    };
    run.then(
      (result) => ended({ result }),
      (error: unknown) => ended({ error }),
    );
    void run.settled().then(() => {
      if (this.#run === run) this.#isSettled = true;
    });
  }

  /** Stops the process. Resolves when the store has done all earlier work for it. */
  async crash(): Promise<void> {
    this.clock.end();
    await this.#line.crash();
  }
}

/** Describes the error that kept a run from being carried out, in one line. */
export function outcomeText(outcome: RunOutcome): string {
  if ('error' in outcome) {
    const { code, message } = toErrorRecord(outcome.error);
    return `The run could not be carried out: ${code}: ${message}`;
  }
  const { status, output, error, awaitingInput, pendingCalls, sleepsUntil } = outcome.result;
  if (error !== undefined)
    return `The run ended with the status ${status}: ${error.code}: ${error.message}`;
  if (status === 'yielded')
    return awaitingInput
      ? 'The run waits for a message of the user.'
      : sleepsUntil !== undefined && pendingCalls.length === 0
        ? 'The run sleeps: let the time pass with `advanceTime`.'
        : 'The run waits for somebody outside.';
  return (
    `The run ended with the status ${status} and the output ` +
    `${JSON.stringify(output) ?? 'undefined'}.`
  );
}
