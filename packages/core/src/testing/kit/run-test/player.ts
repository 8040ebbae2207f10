import { defined } from '../../../base/defined.ts';
import type { JsonValue } from '../../../base/json.ts';
import type { PendingRequest } from '../../../session/pending-request.ts';
import { answerableCalls, choiceText } from './answer-choice.ts';
import { inShort, stepText } from './describe-step.ts';
import { requestText } from './describe-work.ts';
import type { TestStepError } from './errors.ts';
import { responseFor, type WaitingCall } from './model-desk.ts';
import { passTime } from './pass-time.ts';
import { type Rest, RestlessError } from './quiet.ts';
import type { Scene } from './scene.ts';
import { actOutside } from './services-of-test.ts';
import { stepFailure } from './step-failure.ts';
import type { MockedResult, TestStep } from './steps.ts';
import type { HeldTool } from './tool-desk.ts';

type StepOf<Kind extends TestStep['kind']> = Extract<TestStep, { kind: Kind }>;

/**
 * True when a script begins with neither a message nor an event, so that the run is started without
 * one.
 */
export function startsByItself(steps: readonly TestStep[]): boolean {
  const beginning = steps.find(
    ({ kind }) => kind !== 'crash' && kind !== 'advanceTime' && kind !== 'meanwhile',
  )?.kind;
  return beginning !== 'user' && beginning !== 'publish' && beginning !== 'fire';
}

/** Plays the steps of a test, each when nothing goes on by itself any more. */
export class Player {
  readonly #scene: Scene;
  readonly #steps: readonly TestStep[];
  readonly #done: { readonly text: string; readonly after: number }[] = [];
  readonly #onStep: (index: number) => void;
  #index = 0;

  /** @param onStep called right before each step is performed, with the index of the next step */
  constructor(scene: Scene, steps: readonly TestStep[], onStep: (index: number) => void) {
    this.#scene = scene;
    this.#steps = steps;
    this.#onStep = onStep;
  }

  async play(data: JsonValue | undefined): Promise<void> {
    if (startsByItself(this.#steps)) this.#scene.start(undefined, data);
    for (const [index, step] of this.#steps.entries()) {
      this.#index = index;
      const found = await this.#ready(step);
      this.#done.push({
        text: `step ${index + 1}: ${stepText(step)}`,
        after: this.#scene.session.ledger.lastSeq,
      });
      this.#onStep(index + 1);
      await this.#perform(step, found);
    }
    this.#index = this.#steps.length;
    await this.#finish();
  }

  /**
   * Waits until nothing goes on by itself. Tools that are held run when the step needs something
   * that comes after them.
   */
  async #ready(step: TestStep): Promise<Rest> {
    const found = await this.#rest();
    this.#assertCarriedOut(found);
    const { held } = this.#scene.process.tools;
    if (held.length === 0 || !this.#needsMore(step)) return found;
    for (const tool of held) await tool.run();
    return this.#ready(step);
  }

  /** @throws TestStepError when the run does not come to rest */
  async #rest(): Promise<Rest> {
    try {
      return await this.#scene.rest();
    } catch (error) {
      if (!(error instanceof RestlessError)) throw error;
      throw this.#failure(error.message, { work: [], isExplained: false });
    }
  }

  /**
   * Fails when an error kept the run from being carried out. That is no outcome of the run, so no
   * step can be meant for it.
   */
  #assertCarriedOut(found: Rest): void {
    const { outcome } = this.#scene.process;
    if (outcome !== undefined && 'error' in outcome)
      throw this.#failure('but the run could not be carried out', found, outcome.error);
  }

  #needsMore(step: TestStep): boolean {
    switch (step.kind) {
      case 'model':
      case 'expectPrompt':
        return this.#callsOf(step.agent).length === 0;
      case 'input':
        return Object.keys(step.values).some((tool) => this.#findPending(tool) === undefined);
      case 'result':
        return Object.keys(step.values).some((tool) => this.#heldTool(tool) === undefined);
      case 'answer':
        return answerableCalls(this.#scene.pending, step).length === 0;
      case 'crash': {
        const tool = step.place.before ?? step.place.after;
        return tool !== undefined && this.#heldTool(tool) === undefined;
      }
      case 'user':
      case 'advanceTime':
      case 'publish':
      case 'fire':
      case 'meanwhile':
        return false;
    }
  }

  async #perform(step: TestStep, found: Rest): Promise<void> {
    switch (step.kind) {
      case 'user':
        return this.#say(step, found);
      case 'model':
        return this.#answerModel(step, found);
      case 'input':
        return this.#giveInput(step, found);
      case 'result':
        return this.#giveResult(step, found);
      case 'answer':
        return this.#answer(step, found);
      case 'crash':
        return this.#crash(step, found);
      case 'advanceTime':
        return passTime(this.#scene, step.ms);
      case 'publish':
      case 'fire':
        return this.#actOutside(step, found);
      case 'expectPrompt':
        return this.#expectPrompt(step, found);
      case 'meanwhile':
        return this.#meanwhile(step, found);
    }
  }

  async #say({ text, data }: StepOf<'user'>, found: Rest): Promise<void> {
    const { process } = this.#scene;
    if (!process.isActive) return this.#scene.start(text, data);
    if (data !== undefined)
      throw this.#failure('has `data`, which only a run that begins takes', found);
    if (!found.isExplained) throw this.#failure('came while the run is stuck', found);
    await this.#trying(found, () => this.#scene.send(text));
  }

  #callsOf(agent: string | undefined): readonly WaitingCall[] {
    return this.#scene.process.models.waiting.filter(
      (call) => agent === undefined || call.agent === agent,
    );
  }

  /** The model call that a step is about. */
  #callFor({ agent }: { readonly agent: string | undefined }, found: Rest): WaitingCall {
    const calls = this.#callsOf(agent);
    const [call] = calls;
    if (call === undefined)
      throw this.#failure(
        agent === undefined
          ? 'needs an agent that asks its model'
          : `needs "${agent}" to ask its model`,
        found,
      );
    const agents = [...new Set(calls.map((waiting) => waiting.agent))];
    if (agents.length === 1) return call;
    throw this.#failure(
      `must say whose model it is, as with { agent: '${agents[0]}' }: ` +
        `${agents.map((name) => `"${name}"`).join(' and ')} ask theirs`,
      found,
    );
  }

  async #answerModel(step: StepOf<'model'>, found: Rest): Promise<void> {
    const call = this.#callFor(step, found);
    const made = await this.#trying(found, async () => responseFor(step.response, call));
    if ('problem' in made)
      throw this.#failure(`gave a response that cannot be used: ${made.problem}`, found);
    call.give(made.response);
  }

  async #expectPrompt(step: StepOf<'expectPrompt'>, found: Rest): Promise<void> {
    const call = this.#callFor(step, found);
    await this.#trying(found, async () => {
      const given: unknown = await step.expect(call.prompt, call);
      // A condition that is returned and not asserted would be tested nowhere.
      if (given === false)
        throw new TypeError(
          'its function gave false, and what it expects has to be an assertion that ' +
            'throws, such as assert.ok()',
        );
    });
  }

  async #actOutside(step: StepOf<'publish' | 'fire'>, found: Rest): Promise<void> {
    const { app } = this.#scene.process;
    await this.#trying(found, () =>
      actOutside(this.#scene, async () => {
        if (step.kind === 'publish') await app.publish(step.event);
        else await app.triggers.fire(step.trigger, defined({ key: step.key }));
      }),
    );
    if (!this.#scene.hasBegun)
      throw this.#failure('began no run of the runnable under test', found);
  }

  async #meanwhile({ act }: StepOf<'meanwhile'>, found: Rest): Promise<void> {
    const { process, session, clock, pending } = this.#scene;
    const { outcome } = process;
    const result = outcome !== undefined && 'result' in outcome ? outcome.result : undefined;
    await this.#trying(found, async () =>
      act({ app: process.app, session, clock, pending, result }),
    );
    if (await this.#scene.isTold()) this.#scene.resume();
  }

  #findPending(tool: string): PendingRequest | undefined {
    return this.#scene.pending.find(
      ({ name, kind }) => name === tool && (kind === 'input' || kind === 'result'),
    );
  }

  /** The first held call of a tool, in the order in which the model asked for the calls. */
  #heldTool(tool: string): HeldTool | undefined {
    const { events } = this.#scene.session;
    const seqOf = ({ callId }: HeldTool): number =>
      events.find((event) => event.type === 'tool_call' && event.callId === callId)?.seq ?? 0;
    return this.#scene.process.tools.held
      .filter(({ name }) => name === tool)
      .sort((a, b) => seqOf(a) - seqOf(b))[0];
  }

  async #giveInput({ values, by }: StepOf<'input'>, found: Rest): Promise<void> {
    for (const [tool, value] of Object.entries(values)) {
      const pending = this.#findPending(tool);
      if (pending === undefined)
        throw this.#failure(
          `needs a call of ${tool} that waits for input or for its result`,
          found,
        );
      await this.#post(pending, { decision: 'answer', input: value, ...defined({ by }) }, found);
    }
    this.#scene.resume();
  }

  #giveResult({ values }: StepOf<'result'>, found: Rest): void {
    for (const [tool, value] of Object.entries(values)) {
      const held = this.#heldTool(tool);
      if (held === undefined)
        throw this.#failure(`needs a call of ${tool} that is about to run`, found);
      held.give((args) => mocked(value, args));
    }
  }

  async #answer(step: StepOf<'answer'>, found: Rest): Promise<void> {
    const { decision, choice, input } = step;
    const candidates = answerableCalls(this.#scene.pending, step);
    const [first] = candidates;
    if (first === undefined)
      throw this.#failure(
        `needs ${choiceText(choice)} that waits and can be answered with '${decision}'`,
        found,
      );
    if (candidates.length > 1 && choice.tool === undefined) {
      const all = candidates
        .map((pending) => `\n- ${requestText(pending, this.#scene.clock.now())}`)
        .join('');
      throw this.#failure(
        `must say which call it is about, by \`tool\` or \`args\`: several wait:${all}`,
        found,
      );
    }
    const { always, by, reason } = choice;
    await this.#post(first, { decision, ...defined({ always, by, reason, input }) }, found);
    this.#scene.resume();
  }

  async #post(
    pending: PendingRequest,
    answer: Parameters<Scene['process']['app']['requests']['answer']>[1],
    found: Rest,
  ): Promise<void> {
    await this.#trying(found, () =>
      this.#scene.process.app.requests.answer(pending.requestId, answer),
    );
  }

  /** Does work of a step. An error of it, such as a refusal, fails the test at the step. */
  async #trying<Value>(found: Rest, work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      throw this.#failure(
        `failed: ${error instanceof Error ? error.message : inShort(error)}`,
        found,
        error,
      );
    }
  }

  async #crash({ place }: StepOf<'crash'>, found: Rest): Promise<void> {
    const tool = place.before ?? place.after;
    if (tool !== undefined) {
      const held = this.#heldTool(tool);
      if (held === undefined)
        throw this.#failure(`needs a call of ${tool} that is about to run`, found);
      if (place.after !== undefined) await this.#runToEnd(held);
    }
    await this.#scene.crash();
  }

  /**
   * Lets a tool run and keeps its result. A tool that waits, such as one that calls an agent, has
   * no end to crash after.
   */
  async #runToEnd(held: HeldTool): Promise<void> {
    let isOver = false;
    void held.run(true).then(() => {
      isOver = true;
    });
    const found = await this.#rest();
    if (!isOver)
      throw this.#failure(`needs ${held.name} to come to its end without anything else`, found);
  }

  async #finish(): Promise<void> {
    for (;;) {
      const found = await this.#rest();
      const { process } = this.#scene;
      this.#assertCarriedOut(found);
      if (!process.isActive) return;
      const { held } = process.tools;
      if (held.length === 0) throw this.#failure('but the run is not over', found);
      for (const tool of held) await tool.run();
    }
  }

  #failure(why: string, found: Rest, cause?: unknown): TestStepError {
    const place = {
      steps: this.#steps,
      index: this.#index,
      done: this.#done,
      scene: this.#scene,
    };
    return stepFailure(place, { why, cause }, found);
  }
}

function mocked(value: MockedResult, args: unknown): unknown {
  if (value instanceof Error) throw value;
  return typeof value === 'function' ? (value as (args: unknown) => unknown)(args) : value;
}
