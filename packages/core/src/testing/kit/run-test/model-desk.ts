import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Clock } from '../../../base/clock.ts';
import type { StandInModelCall } from '../../../effects/stand-ins.ts';
import { type Model, modelName } from '../../../models/model.ts';
import { asTestModel } from '../../../models/test-model-mark.ts';
import { scriptedModel } from '../scripted-model.ts';
import { responseProblem, type ScriptedResponse } from '../scripted-response.ts';
import type { ModelAnswerStep, TestModelCall } from './steps.ts';

type Method = 'doStream' | 'doGenerate';

/** A model call that waits for its answer. */
export interface WaitingCall extends TestModelCall {
  readonly round: number;
  give(response: ScriptedResponse): void;
}

/** Model calls of a process, which wait until the test answers them. All agents share it. */
export class ModelDesk {
  readonly #clock: Clock;
  readonly #waiting = new Set<WaitingCall>();
  /** Times at which answers with a delay arrive, by invocation. */
  readonly #answeringUntil = new Map<string, number>();
  readonly #all: TestModelCall[];
  readonly #models = new Map<string, LanguageModelV4>();
  readonly #nextId: () => string;
  #isClosed = false;

  /** @param all a list to which every call is added, in the order in which the calls are made */
  constructor(clock: Clock, all: TestModelCall[], nextId: () => string) {
    this.#clock = clock;
    this.#all = all;
    this.#nextId = nextId;
  }

  /** Calls that wait, in the order in which they were made. */
  get waiting(): readonly WaitingCall[] {
    return [...this.#waiting];
  }

  /**
   * Time at which a delayed answer to the call of an invocation arrives; `undefined`: none is on
   * its way.
   */
  answersAt(path: string): number | undefined {
    const until = this.#answeringUntil.get(path);
    return until !== undefined && until > this.#clock.now() ? until : undefined;
  }

  /**
   * Returns the same model for the same agent invocation, so that wrappers are put around it once.
   */
  modelFor(model: Model, { agent, invocationId, round }: StandInModelCall): LanguageModelV4 {
    const key = `${round} ${modelName(model)} ${invocationId}`;
    let made = this.#models.get(key);
    if (made === undefined) {
      const ask = <Kind extends Method>(
        method: Kind,
        options: LanguageModelV4CallOptions,
      ): Promise<Awaited<ReturnType<LanguageModelV4[Kind]>>> =>
        this.#ask(method, {
          agent,
          invocationId,
          round,
          model: modelName(model),
          prompt: options.prompt,
          options,
        });
      made = asTestModel({
        specificationVersion: 'v4' as const,
        provider: model.provider,
        modelId: model.modelId,
        supportedUrls: {},
        doStream: (options: LanguageModelV4CallOptions) => ask('doStream', options),
        doGenerate: (options: LanguageModelV4CallOptions) => ask('doGenerate', options),
      });
      this.#models.set(key, made);
    }
    return made;
  }

  /** Ends the script: later calls fail with an error, instead of waiting forever. */
  close(): void {
    this.#isClosed = true;
  }

  #ask<Kind extends Method>(
    method: Kind,
    call: TestModelCall & { readonly round: number },
  ): Promise<Awaited<ReturnType<LanguageModelV4[Kind]>>> {
    const { promise, resolve, reject } =
      Promise.withResolvers<Awaited<ReturnType<LanguageModelV4[Kind]>>>();
    if (this.#isClosed) return Promise.reject(scriptIsOver(call.agent));
    const { options, invocationId } = call;
    const signal = options.abortSignal;
    const end = (): void => {
      this.#waiting.delete(waiting);
      signal?.removeEventListener('abort', onAbort);
    };
    const onAbort = (): void => {
      end();
      reject(signal?.reason);
    };
    const give = (response: ScriptedResponse): void => {
      end();
      const answering = scriptedModel([numbered(response, this.#nextId)], {
        clock: this.#clock,
        record: false,
      });
      this.#answeringUntil.set(invocationId, this.#clock.now() + delayOf(response));
      const answer = Promise.resolve(answering[method](options)) as Promise<
        Awaited<ReturnType<LanguageModelV4[Kind]>>
      >;
      answer.then(resolve, reject);
    };
    const kept: TestModelCall = { ...call, prompt: [...call.prompt] };
    const waiting: WaitingCall = { ...call, ...kept, give };
    this.#answeringUntil.delete(invocationId);
    this.#all.push(kept);
    this.#waiting.add(waiting);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    return promise;
  }
}

/**
 * Returns an error like that of a provider that refuses a call which no further attempt can save.
 */
function scriptIsOver(agent: string): Error {
  const message =
    `The script of runTest() is over, and "${agent}" asks its model: answer it with a ` +
    'further model() step, or run the agent in another test.';
  return Object.assign(new Error(message), { statusCode: 400, isRetryable: false });
}

/** Milliseconds that an answer takes. */
function delayOf({ delayMs = 0, chunks = [], chunkDelayMs = 0 }: ScriptedResponse): number {
  return delayMs + Math.max(0, chunks.length - 1) * chunkDelayMs;
}

/**
 * Gives calls ids that are counted over the whole test: a prompt must not have the same id twice.
 */
function numbered(response: ScriptedResponse, nextId: () => string): ScriptedResponse {
  if (response.toolCalls === undefined) return response;
  return {
    ...response,
    toolCalls: response.toolCalls.map((call) => ({
      ...call,
      providerCallId: call.providerCallId ?? nextId(),
    })),
  };
}

/** Returns the response of a step for a call, or the problem with it. */
export function responseFor(
  step: ModelAnswerStep,
  call: TestModelCall,
): { readonly response: ScriptedResponse } | { readonly problem: string } {
  const made = typeof step === 'function' ? step(call) : step;
  const response = typeof made === 'string' ? { text: made } : made;
  const problem = responseProblem(response);
  return problem === undefined ? { response } : { problem };
}
