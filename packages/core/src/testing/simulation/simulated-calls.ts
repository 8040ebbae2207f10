import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { StandInModelCall, StandIns, StandInToolCall } from '../../effects/stand-ins.ts';
import { type Model, modelName } from '../../models/model.ts';
import { RealModelForbiddenError } from '../../models/real-models.ts';
import { isTestModel } from '../../models/test-model-mark.ts';
import { ToolFailure } from '../../tools/errors.ts';
import type { FaultPlan } from './faults.ts';
import { type MachineProcess, never } from './machine.ts';
import type { World } from './world.ts';

const by = 'simulate()';
/** Milliseconds of a model call and of a tool, at least and at most. */
const modelTimes = { fastest: 200, slowest: 20_000 };
const toolTimes = { fastest: 1, slowest: 5_000 };
/** Milliseconds after which slow ones end, if ever: beyond all time limits. */
const slowTimes = { fastest: 20_000, slowest: 1_200_000 };

/** The world of simulated calls, and the process that makes them. */
export interface CallsOutside {
  readonly world: World;
  readonly plan: FaultPlan;
  readonly process: MachineProcess;
  readonly machine: string;
  readonly stop: () => void;
}

/** Stand-ins that give models and tools the times and the faults of a world. */
export function simulatedCalls(outside: CallsOutside): StandIns {
  const calls = new SimulatedCalls(outside);
  return {
    model: (model, call) => calls.model(model, call),
    tool: (call, execute) => calls.tool(call, execute),
  };
}

class SimulatedCalls {
  readonly #outside: CallsOutside;

  constructor(outside: CallsOutside) {
    this.#outside = outside;
  }

  /** A model that takes its time, and refuses some calls. */
  model(own: Model, { invocationId, round, attempt }: StandInModelCall): LanguageModelV4 {
    if (!isTestModel(own)) {
      // A failed call would be an outcome of the run like any other.
      const error = new RealModelForbiddenError({ model: modelName(own), by });
      this.#outside.world.fail(error);
      throw error;
    }
    const about = `${invocationId} round ${round} attempt ${attempt}`;
    const { modelId, provider } = own;
    return {
      specificationVersion: 'v4',
      provider,
      modelId,
      supportedUrls: {},
      doGenerate: async (options) => {
        await this.#beforeModel(about, options.abortSignal);
        return (await own.load()).doGenerate(options);
      },
      doStream: async (options) => {
        await this.#beforeModel(about, options.abortSignal);
        return (await own.load()).doStream(options);
      },
    };
  }

  async #beforeModel(about: string, signal: AbortSignal | undefined): Promise<void> {
    const { machine, plan, process, world } = this.#outside;
    const visited = plan.visit(`${machine}/model`);
    world.note(`${process.name} ${visited} ${about}`);
    this.#mayStop(`${visited} before`);
    if (process.isDead) return never();
    const times = plan.happens('slowModel', visited) ? slowTimes : modelTimes;
    await this.#way(visited, times, signal);
    if (plan.happens('modelError', visited)) {
      world.note(`${process.name} ${visited} fails`);
      throw modelError(world.draws.whole(`${visited} error`, 0, 2));
    }
    this.#mayStop(`${visited} after`);
    return process.isDead ? never() : undefined;
  }

  /** Runs a tool that takes its time, and fails at times: before it has acted, or after. */
  async tool(call: StandInToolCall, execute: () => unknown): Promise<unknown> {
    const { machine, plan, process, world } = this.#outside;
    const visited = plan.visit(`${machine}/tool ${call.name}`);
    world.note(`${process.name} ${visited} ${call.callId} attempt ${call.attempt}`);
    if (process.isDead) return never();
    this.#mayStop(`${visited} before`);
    if (process.isDead) return never();
    const fails = plan.happens('toolError', visited);
    if (fails && world.draws.at(`${visited} acts`) < 0.5)
      throw new ToolFailure('The simulated service is not there.', {
        errorType: 'http_503',
        status: 'error_transient',
      });
    const isSlow = plan.happens('slowTool', visited);
    await this.#way(`${visited} before`, toolTimes, call.signal);
    const result = await execute();
    if (process.isDead) return never();
    this.#mayStop(`${visited} after`);
    await this.#way(`${visited} after`, isSlow ? slowTimes : toolTimes, call.signal);
    if (fails) throw new Error('The connection was lost.', { cause: { code: 'ECONNRESET' } });
    return result;
  }

  #mayStop(place: string): void {
    const { plan, process, stop, world } = this.#outside;
    if (process.isDead || !plan.happens('stop', place)) return;
    world.note(`${process.name} is killed at ${place}`);
    stop();
  }

  /** Waits in this process. A killed process waits for ever; an abort ends the wait. */
  #way(
    place: string,
    { fastest, slowest }: { readonly fastest: number; readonly slowest: number },
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { process, world } = this.#outside;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal?.reason as Error);
      if (signal?.aborted) return onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      process.setBackgroundTimer(world.draws.delay(place, fastest, slowest), () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
    });
  }
}

/** An error of a provider that may pass: overload, a limit of rate, a lost connection. */
function modelError(kind: number): Error {
  if (kind === 2) return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  const isRateLimit = kind === 1;
  return Object.assign(new Error(isRateLimit ? 'Slow down' : 'Overloaded'), {
    statusCode: isRateLimit ? 429 : 529,
  });
}
