import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { TestClock } from '../../../base/clocks/test-clock.ts';
import type { RunResult } from '../../../engine/run/run.ts';
import type { PublishedEvent } from '../../../ledger/decisions/service-decisions.ts';
import type { Event } from '../../../ledger/event.ts';
import type { ListedNotice } from '../../../notifications/service/notice-list.ts';
import type { Runtime } from '../../../runtime.ts';
import {
  anyRunnable,
  isRunnable,
  type OutputOf,
  type Runnable,
} from '../../../session/runnable.ts';
import type { Session } from '../../../session/session.ts';
import { InvalidTestError } from './errors.ts';
import { checkOptions, type RunTestOptions } from './options.ts';
import { Player, startsByItself } from './player.ts';
import { Scene } from './scene.ts';
import { noticesOf, publishedBy, workDue } from './services-of-test.ts';
import { checkSteps, type TestModelCall, type TestStep } from './steps.ts';

/** The result of a test. */
export interface TestRun<Output = unknown> {
  readonly session: Session;
  /** Status of the last run; `yielded`: it waits for an answer from outside. */
  readonly status: RunResult['status'];
  readonly output: Output | undefined;
  /** The result of the last run. */
  readonly result: RunResult<Output>;
  /** The results of all runs, one for each. */
  readonly results: readonly RunResult[];
  readonly events: readonly Event[];
  /** Events that the session has published with `ctx.publish`. */
  readonly published: readonly PublishedEvent[];
  /**
   * Notices to people, in the order in which they came in: those of an app with the option
   * `notifications`, which its channels have taken.
   */
  readonly notices: readonly ListedNotice[];
  /**
   * The prompts of all model calls, in the order of the calls, even of those that a crash
   * interrupted.
   */
  readonly prompts: readonly LanguageModelV4Prompt[];
  /** All model calls, with agents, tools and settings. */
  readonly calls: readonly TestModelCall[];
  /** The runtime of the last process, for forks and further checks. */
  readonly app: Runtime;
  readonly clock: TestClock;
}

/**
 * Runs a runnable on the real runtime with a script: messages of users, answers of the models of
 * all agents, decisions about approvals, and crashes of the process. The models of the agents are
 * not called. Each step is taken when nothing happens by itself any more. A run that does something
 * else than the steps say fails with an account of its events. Without a `user` step in front, the
 * run is started without a message.
 *
 * @throws InvalidTestError before anything runs, TestStepError
 * @example
 * ```ts
 * import { agent, openai } from 'adjutant';
 * import { model, runTest, user } from 'adjutant/testing';
 *
 * const greeter = agent({ name: 'greeter', model: openai('gpt-5-mini') });
 * const { output } = await runTest(greeter, [user('Hi'), model({ text: 'Hello Ann.' })]);
 * console.log(output); // the script answered for the model
 * ```
 */
export async function runTest<R extends Runnable>(
  runnable: R,
  steps: readonly TestStep[],
  options: RunTestOptions = {},
): Promise<TestRun<OutputOf<R>>> {
  if (!isRunnable(runnable))
    throw new InvalidTestError({
      what: 'runTest()',
      reason: `its first argument must be ${anyRunnable}`,
    });
  checkSteps(steps);
  checkOptions(options);
  if (options.data !== undefined && !startsByItself(steps)) {
    throw new InvalidTestError({
      what: 'The options of runTest()',
      reason: 'the script begins with user(): give `data` to that step',
    });
  }
  const awaited = new AwaitedTools(steps);
  const scene = new Scene(runnable, options, (tool) => awaited.has(tool));
  try {
    await scene.open();
    await new Player(scene, steps, (index) => awaited.goTo(index)).play(options.data);
    if (options.runtime?.notifications !== undefined) await workDue(scene);
  } catch (error) {
    await scene.abandon();
    throw error;
  }
  const hasNotices = options.runtime?.notifications !== undefined;
  const notices = hasNotices ? await noticesOf(scene.process.app, scene.store) : [];
  scene.process.models.close();
  const results = scene.takeResults();
  const result = results.at(-1) as RunResult<OutputOf<R>>;
  const { session, calls, clock, process } = scene;
  return {
    session,
    status: result.status,
    output: result.output,
    result,
    results,
    get events() {
      return session.events;
    },
    get published() {
      return publishedBy(session.events);
    },
    notices,
    prompts: calls.map(({ prompt }) => prompt),
    calls,
    app: process.app,
    clock,
  };
}

/** The tools that later steps are about: their executions are held. */
class AwaitedTools {
  readonly #steps: readonly TestStep[];
  #index = 0;

  constructor(steps: readonly TestStep[]) {
    this.#steps = steps;
  }

  /** Marks the step with this index as the next one. */
  goTo(index: number): void {
    this.#index = index;
  }

  has(tool: string): boolean {
    return this.#steps.slice(this.#index).some((step) => {
      if (step.kind === 'result') return Object.hasOwn(step.values, tool);
      return step.kind === 'crash' && (step.place.before === tool || step.place.after === tool);
    });
  }
}
