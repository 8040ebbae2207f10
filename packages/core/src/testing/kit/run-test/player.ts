import type { JsonValue } from '../../../base/json.ts';
import type { PendingCall } from '../../../session/pending-call.ts';
import { accountOf } from './account.ts';
import { inShort, stepText } from './describe-step.ts';
import { doingText, requestText } from './describe-work.ts';
import { TestStepError } from './errors.ts';
import { responseFor, type WaitingCall } from './model-desk.ts';
import { type Rest, RestlessError } from './quiet.ts';
import type { Scene } from './scene.ts';
import type { AnswerChoice, MockedResult, TestStep } from './steps.ts';
import type { HeldTool } from './tool-desk.ts';

type StepOf<Kind extends TestStep['kind']> = Extract<TestStep, { kind: Kind }>;

/** Whether the run is started without a message, because the script does not begin with one. */
export function startsByItself(steps: readonly TestStep[]): boolean {
  return (
    steps.find(({ kind }) => kind !== 'crash' && kind !== 'advanceTime' && kind !== 'meanwhile')
      ?.kind !== 'user'
  );
}

/** Plays the steps of a test, each when everything before it has come to rest. */
export class Player {
  readonly #scene: Scene;
  readonly #steps: readonly TestStep[];
  readonly #done: { readonly text: string; readonly after: number }[] = [];
  readonly #onStep: (index: number) => void;
  #index = 0;

  /**
   * @param onStep called with the place of each step when what it is about is done, and the next is
   * waited for
   */
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
   * Waits for the run to come to rest. Tools that are held run when the step needs what comes after
   * them.
   */
  async #ready(step: TestStep): Promise<Rest> {
    const found = await this.#rest();
    this.#assertCarriedOut(found);
    const { held } = this.#scene.process.tools;
    if (held.length === 0 || !this.#needsMore(step)) return found;
    for (const tool of held) await tool.run();
    return this.#ready(step);
  }

  /** @throws TestStepError when there is no rest */
  async #rest(): Promise<Rest> {
    try {
      return await this.#scene.rest();
    } catch (error) {
      if (!(error instanceof RestlessError)) throw error;
      throw this.#failure(error.message, { work: [], isExplained: false });
    }
  }

  /**
   * What kept the run from being carried out is no outcome of it: no step can be meant for that.
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
        return this.#candidates(step).length === 0;
      case 'crash': {
        const tool = step.place.before ?? step.place.after;
        return tool !== undefined && this.#heldTool(tool) === undefined;
      }
      case 'user':
      case 'advanceTime':
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
        return this.#advance(step.ms);
      case 'expectPrompt':
        return this.#expectPrompt(step, found);
      case 'meanwhile':
        return this.#meanwhile(step, found);
    }
  }

  async #say({ text, data }: StepOf<'user'>, found: Rest): Promise<void> {
    const { process, session } = this.#scene;
    if (!process.isActive) return this.#scene.start(text, data);
    if (data !== undefined)
      throw this.#failure('has `data`, which only a run that begins takes', found);
    if (!found.isExplained) throw this.#failure('came while the run is stuck', found);
    await this.#posting(found, () => process.app.send(session, text));
  }

  #callsOf(agent: string | undefined): readonly WaitingCall[] {
    return this.#scene.process.models.waiting.filter(
      (call) => agent === undefined || call.agent === agent,
    );
  }

  /** The call that a step is about. */
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
      // Whoever returns a condition has it tested nowhere.
      if (given === false)
        throw new TypeError(
          'its function gave false, and what it expects has to be an assertion that ' +
            'throws, such as assert.ok()',
        );
    });
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

  #findPending(tool: string): PendingCall | undefined {
    return this.#scene.pending.find(
      ({ name, kind }) => name === tool && (kind === 'input' || kind === 'result'),
    );
  }

  /** The first call of a tool that is held, in the order in which the calls were asked for. */
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
      await this.#post(
        pending,
        { decision: 'answer', input: value, ...(by === undefined ? {} : { by }) },
        found,
      );
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

  #candidates({ decision, choice }: StepOf<'answer'>): readonly PendingCall[] {
    return this.#scene.pending.filter(
      ({ name, args, request }) =>
        (choice.tool === undefined || name === choice.tool) &&
        request.options.includes(decision) &&
        hasArgs(args, choice.args),
    );
  }

  async #answer(step: StepOf<'answer'>, found: Rest): Promise<void> {
    const { decision, choice, input } = step;
    const candidates = this.#candidates(step);
    const [first] = candidates;
    if (first === undefined)
      throw this.#failure(
        `needs ${wanted(choice)} that waits and can be answered with '${decision}'`,
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
    const { by, reason } = choice;
    const said = {
      ...(by === undefined ? {} : { by }),
      ...(reason === undefined ? {} : { reason }),
      ...(input === undefined ? {} : { input }),
    };
    await this.#post(first, { decision, ...said }, found);
    this.#scene.resume();
  }

  async #post(
    pending: PendingCall,
    answer: Parameters<Scene['process']['app']['requests']['answer']>[1],
    found: Rest,
  ): Promise<void> {
    await this.#posting(found, () =>
      this.#scene.process.app.requests.answer(pending.requestId, answer),
    );
  }

  /** What is refused fails the test here. */
  #posting(found: Rest, post: () => Promise<void>): Promise<void> {
    return this.#trying(found, post);
  }

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
   * Lets a tool run and keeps what it gives. One that waits for something, as for the model of an
   * agent that it calls, has no end to crash after.
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

  /** In parts: what a timer leads to may set the next, and what is over may go on. */
  async #advance(ms: number): Promise<void> {
    const { clock } = this.#scene;
    for (let left = ms; left > 0; ) {
      const part = Math.min(left, Math.max(0, this.#untilNext()));
      clock.advance(part);
      left -= part;
      await this.#scene.settle();
      this.#resumeExpired();
    }
  }

  #untilNext(): number {
    const { process, clock } = this.#scene;
    const expiries = process.isActive
      ? []
      : this.#scene.pending.flatMap(({ expiresAt }) => expiresAt ?? []);
    return Math.min(
      process.clock.untilNext,
      ...expiries.map((at) => at - clock.now()).filter((left) => left > 0),
    );
  }

  #resumeExpired(): void {
    const { process, clock } = this.#scene;
    const isOver = this.#scene.pending.some(
      ({ expiresAt }) => expiresAt !== undefined && expiresAt <= clock.now(),
    );
    if (isOver && !process.isActive) this.#scene.resume();
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

  #failure(why: string, { work }: Rest, cause?: unknown): TestStepError {
    const step = this.#steps[this.#index];
    const count = this.#steps.length;
    const all = count === 1 ? 'The step is' : `All ${count} steps are`;
    const what =
      step === undefined
        ? `${all} taken,`
        : `Step ${this.#index + 1} of ${count}, ${stepText(step)},`;
    const { events } = this.#scene.session;
    const left = this.#steps
      .slice(this.#index + 1)
      .map((one, offset) => `  step ${this.#index + offset + 2}: ${stepText(one)}`);
    const parts = [
      `${what} ${why.replace(/\.$/, '')}.`,
      `\nAt that moment:\n${doingText(work, this.#scene)}`,
      `\nWhat has happened:\n${accountOf(this.#done, events)}`,
      ...(left.length === 0 ? [] : [`\nStill to come:\n${left.join('\n')}`]),
    ];
    return new TestStepError(
      parts.join('\n'),
      { step: this.#index + 1, kind: step?.kind ?? 'end' },
      cause,
    );
  }
}

function mocked(value: MockedResult, args: unknown): unknown {
  if (value instanceof Error) throw value;
  return typeof value === 'function' ? (value as (args: unknown) => unknown)(args) : value;
}

function hasArgs(args: JsonValue, wantedArgs: AnswerChoice['args']): boolean {
  if (wantedArgs === undefined) return true;
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return false;
  return Object.entries(wantedArgs).every(
    ([key, value]) =>
      JSON.stringify((args as Record<string, JsonValue>)[key]) === JSON.stringify(value),
  );
}

function wanted({ tool, args }: AnswerChoice): string {
  const what = tool === undefined ? 'a call' : `a call of ${tool}`;
  return args === undefined ? what : `${what} with ${inShort(args)}`;
}
