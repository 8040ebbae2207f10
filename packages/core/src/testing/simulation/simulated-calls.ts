import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { StandInModelCall, StandIns } from '../../effects/stand-ins.ts';
import { type Model, modelName } from '../../models/model.ts';
import { RealModelForbiddenError } from '../../models/real-models.ts';
import { isTestModel } from '../../models/test-model-mark.ts';
import { ToolFailure } from '../../tools/errors.ts';
import type { FaultPlan } from './faults.ts';
import { type MachineProcess, never } from './machine.ts';
import type { World } from './world.ts';

const by = 'simulate()';
/** The kind of error of a model that has lost its connection. */
const lostConnection = 2;
/** Milliseconds of a model call and of a tool, at least and at most. */
const modelTimes = { fastest: 200, slowest: 20_000 };
const toolTimes = { fastest: 1, slowest: 5_000 };
/** Milliseconds after which slow ones end, at least and at most: below and beyond time limits. */
const slowTimes = { fastest: 20_000, slowest: 1_200_000 };

/** The world of simulated calls, and the process that makes them. */
export interface CallsOutside {
  readonly world: World;
  readonly plan: FaultPlan;
  readonly process: MachineProcess;
  readonly machine: string;
  readonly stop: () => void;
}

/** Stand-ins that give models, tools and effects the times and the faults of a world. */
export function simulatedCalls(outside: CallsOutside): StandIns {
  const calls = new SimulatedCalls(outside);
  return {
    model: (model, call) => calls.model(model, call),
    tool: (call, execute) => calls.act(`tool ${call.name}`, call, execute),
    effect: (call, run) => calls.act(`effect ${nameOf(call.callId)}`, call, run),
  };
}

/** An attempt of a tool or of an effect. */
interface CallOutside {
  readonly callId: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
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
        const visited = await this.#beforeModel(invocationId, about, options.abortSignal);
        const answer = await (await own.load()).doGenerate(options);
        await this.#answered(visited, invocationId);
        return answer;
      },
      doStream: async (options) => {
        const visited = await this.#beforeModel(invocationId, about, options.abortSignal);
        const answer = await (await own.load()).doStream(options);
        const stream = answer.stream.pipeThrough(this.#streamed(visited, invocationId));
        return { ...answer, stream };
      },
    };
  }

  /** Waits for a model as long as it takes. Returns the place of the call. */
  async #beforeModel(
    invocationId: string,
    about: string,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const { machine, plan, process, world } = this.#outside;
    const visited = plan.visit(`${machine}/model`);
    world.note(`${process.name} ${visited} ${about}`);
    this.#mayStop(`${visited} before`);
    if (process.isDead) return never();
    const times = plan.happens('slowModel', visited, 1, invocationId) ? slowTimes : modelTimes;
    await this.#way(visited, times, signal);
    if (plan.happens('modelError', visited, 1, invocationId)) {
      world.note(`${process.name} ${visited} fails`);
      throw modelError(world.draws.whole(`${visited} error`, 0, lostConnection));
    }
    return visited;
  }

  /** Lets the answer of a model be lost on its way: the model has made it, and nobody has it. */
  async #answered(visited: string, invocationId: string): Promise<void> {
    const { plan, process, world } = this.#outside;
    this.#mayStop(`${visited} after`);
    if (process.isDead) return never();
    if (!plan.happens('modelError', `${visited} answer`, 1, invocationId)) return;
    world.note(`${process.name} ${visited} has answered, and the answer is lost`);
    throw modelError(lostConnection);
  }

  /** Lets a streamed answer be lost with its last part, when the others have come. */
  #streamed(visited: string, invocationId: string): TransformStream<LanguageModelV4StreamPart> {
    return new TransformStream({
      transform: async (part, controller) => {
        if (part.type === 'finish') await this.#answered(visited, invocationId);
        controller.enqueue(part);
      },
    });
  }

  /**
   * Runs a tool or an effect that takes its time, and fails at times: before it has acted, or
   * after. Some that are slow do not heed that they are to end.
   */
  async act(name: string, call: CallOutside, execute: () => unknown): Promise<unknown> {
    const { machine, plan, process, world } = this.#outside;
    const visited = plan.visit(`${machine}/${name}`);
    world.note(`${process.name} ${visited} ${call.callId} attempt ${call.attempt}`);
    if (process.isDead) return never();
    this.#mayStop(`${visited} before`);
    if (process.isDead) return never();
    const fails = plan.happens('toolError', visited, 1, call.callId);
    if (fails && world.draws.at(`${visited} acts`) < 0.5)
      throw new ToolFailure('The simulated service is not there.', {
        errorType: 'http_503',
        status: 'error_transient',
      });
    const isSlow = plan.happens('slowTool', visited, 1, call.callId);
    const heeds = !isSlow || world.draws.at(`${visited} heeds`) < 0.5;
    const signal = heeds ? call.signal : undefined;
    await this.#way(`${visited} before`, toolTimes, signal);
    if (process.isDead) return never();
    const result = await execute();
    if (process.isDead) return never();
    this.#mayStop(`${visited} after`);
    await this.#way(`${visited} after`, isSlow ? slowTimes : toolTimes, signal);
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

/** Key of an effect, and the name of its body: effects of a place are counted together. */
function nameOf(callId: string): string {
  return callId.split('/').slice(-2).join('/');
}

/** An error of a provider that may pass: overload, a limit of rate, a lost connection. */
function modelError(kind: number): Error {
  if (kind === lostConnection)
    return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  const isRateLimit = kind === 1;
  return Object.assign(new Error(isRateLimit ? 'Slow down' : 'Overloaded'), {
    statusCode: isRateLimit ? 429 : 529,
  });
}
