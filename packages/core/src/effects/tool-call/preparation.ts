import { deepFreeze } from '../../base/json.ts';
import { unresolvedCall } from '../../ledger/folds/effect-fold.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import type { CallState } from '../../loop/call-state.ts';
import { classifyThrown } from '../../tools/classify.ts';
import { toolResult } from '../../tools/result.ts';
import type { Tool } from '../../tools/tool.ts';
import { validateArgs } from '../../tools/validate.ts';
import { isReleased } from '../released.ts';
import {
  type AskingCall,
  asksBeforeAttempt,
  asksToRepeat,
  takeAnswers,
} from '../request/due-requests.ts';
import { untilAborted } from '../until-aborted.ts';
import { joinedWrites, noWrites, type Writes } from '../writes.ts';
import type { Attempt } from './attempt/attempt.ts';
import { callFingerprint } from './call-fingerprint.ts';
import { attemptsOf } from './made-attempts.ts';
import type { ToolCallPorts } from './ports.ts';
import { refusalDraft, supervisedRefusal } from './refusal-draft.ts';
import { cancelledBefore, prepareTimedOut, repeatRefused } from './result-texts.ts';
import type { CheckedCall, CheckMode } from './supervisor.ts';

/**
 * All steps before a call is attempted. They read answers, prepare the arguments, and have them
 * checked. They look for an equal call of unknown outcome, and make the due requests.
 */
export class CallPreparation {
  /** Fingerprint of the call, for a tool that may not be run again. */
  fingerprint: string | undefined;
  /** Idempotency key of an earlier equal call that may have taken effect. */
  key: string | undefined;
  readonly #attempt: Attempt;
  #writes = noWrites;
  #confirm: string | undefined;
  #mode: CheckMode = 'first';

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  /**
   * True when the attempt can be made now. When false, the outcome or a new request is recorded, or
   * nothing has to be recorded.
   */
  async isReady(): Promise<boolean> {
    const { tool, state } = this.#attempt;
    const { supervisor } = this.#attempt.ports;
    if (attemptsOf(state).length > 0) this.#mode = 'again';
    const isReady = state.answered.length === 0 ? this.#prepareFirst() : this.#takeAnswers();
    // A tool that neither prepares nor asks runs without a wait.
    if (isReady !== true && !(await isReady)) return false;
    if (supervisor !== undefined) {
      const checking = supervisor.check(this.#attempt, this.#mode);
      const checked = checking instanceof Promise ? await checking : checking;
      // Writes of hooks are recorded at once, so no needless wait comes between.
      const isChanged = checked?.args !== undefined && checked.refused === undefined;
      if (checked !== undefined && !this.#apply(isChanged ? await this.#fitting(checked) : checked))
        return false;
    }
    if (tool.recovery !== 'rerun' && !this.#mayRepeat()) return false;
    const mayAsk =
      tool.approval !== undefined || tool.yieldSchema !== undefined || this.#confirm !== undefined;
    if (mayAsk && (await this.#asks())) return false;
    // The request may have lasted until the run was aborted: then nothing is attempted any more.
    if (this.#attempt.ports.scope.aborted) return this.#cancel();
    const admitted = supervisor?.admit(this.#attempt);
    return admitted === undefined || this.#apply(admitted);
  }

  /** Takes the decisions made before the attempt, to be appended with it. */
  takeWrites(): Writes {
    const writes = this.#writes;
    this.#writes = noWrites;
    return writes;
  }

  /**
   * Validates arguments with which a check replaced those of the model. They must fit the tool if
   * the previous ones did. A schema whose output does not fit its own input cannot judge them: then
   * they are used unchanged.
   */
  async #fitting(checked: CheckedCall): Promise<CheckedCall> {
    const { tool, args } = this.#attempt;
    const before = await this.#untilAborted((async () => validateArgs(tool, args))());
    if (before?.value.ok !== true) return checked;
    const changed = await this.#untilAborted((async () => validateArgs(tool, checked.args))());
    if (changed === undefined || changed.value.ok) return checked;
    const result = toolResult.blocked(
      `The tool ${tool.name} was not run: a check changed its arguments into some that do ` +
        'not fit it.',
      {
        errorType: 'guardrail_denied',
        detail: changed.value.message,
      },
    );
    return {
      guidance: [],
      writes: checked.writes,
      refused: { result, notes: [], writes: noWrites },
    };
  }

  /** Applies the findings of the checks. Returns true when the call goes on. */
  #apply({ refused, args, guidance, confirm, writes }: CheckedCall): boolean {
    if (isReleased(this.#attempt.ports)) return false;
    if (refused !== undefined) {
      const { drafts, extras } = joinedWrites([this.#writes, writes, refused.writes]);
      const { ledger, path } = this.#attempt.ports;
      ledger.append([...drafts, supervisedRefusal(this.#attempt.state, path, refused)], extras);
      return false;
    }
    if (args !== undefined) this.#attempt.args = deepFreeze(args);
    if (guidance.length > 0) this.#attempt.guidance = guidance;
    this.#confirm ??= confirm;
    this.#writes = joinedWrites([this.#writes, writes]);
    return true;
  }

  /**
   * Ends the preparation of an aborted call. A released run leaves the call to the process that
   * continues it. A cancelled run settles the call. Returns false: the call does not go on.
   */
  #cancel(): false {
    if (this.#attempt.isReleased()) return false;
    const { drafts, extras } = this.takeWrites();
    const { state, ports } = this.#attempt;
    ports.ledger.append([...drafts, refusalDraft(state, ports.path, cancelledBefore())], extras);
    return false;
  }

  #prepareFirst(): true | Promise<boolean> {
    const { prepare } = this.#attempt.tool;
    return prepare === undefined || this.#prepare(prepare);
  }

  async #takeAnswers(): Promise<boolean> {
    const answers = await takeAnswers(this.#attempt.state, this.#attempt.tool, this.#attempt.ports);
    if (answers.verdict === 'settled') return false;
    if (answers.verdict === 'none') {
      // A request that is repeated after an answer was checked before.
      if (
        this.#mode === 'first' &&
        this.#attempt.state.answered.some(({ request }) => request.name === this.#attempt.tool.name)
      )
        this.#mode = 'edited';
      return this.#prepareFirst();
    }
    this.#attempt.args = answers.args;
    this.#attempt.input = answers.input;
    if (this.#mode === 'first' || !answers.edited)
      this.#mode = answers.edited ? 'edited' : 'approved';
    return !answers.edited || this.#prepareFirst();
  }

  /**
   * Prepares the arguments. Nothing has been attempted, so a failure refuses the call. Returns true
   * when the call may go on.
   */
  async #prepare(prepare: NonNullable<Tool['prepare']>): Promise<boolean> {
    const attempt = this.#attempt;
    attempt.timer.begin();
    attempt.timer.start();
    const context = attempt.context();
    const preparing = (async () => prepare(context))();
    try {
      const prepared = await this.#untilAborted(preparing);
      if (prepared !== undefined && !attempt.scope.aborted) {
        attempt.args = deepFreeze(prepared.value);
        attempt.timer.stop();
        return true;
      }
    } catch (thrown) {
      if (!attempt.scope.aborted) {
        this.#refuse(
          classifyThrown(thrown, attempt.ports.clock.now(), attempt.tool.classify).result,
        );
        return false;
      }
    }
    preparing.catch(() => undefined);
    if (this.#attempt.isReleased()) return false;
    this.#refuse(
      attempt.scope.reason?.code === 'timeout'
        ? prepareTimedOut(attempt.tool.name, attempt.timer.timeoutMs)
        : cancelledBefore(),
    );
    return false;
  }

  /** Refuses the call with this result. Supervision decides on the notes for the model. */
  #refuse(result: ToolResult): void {
    const { state, tool, ports } = this.#attempt;
    refuseCall(state, tool, result, ports);
  }

  /**
   * Looks for an earlier equal call that may have taken effect. This call gets the key of that one,
   * so that a service that honours keys does nothing twice. Otherwise, the call is refused or needs
   * approval. A call that has begun something already goes on under its own key.
   */
  #mayRepeat(): boolean {
    const { state, tool, ports, call, args } = this.#attempt;
    const { ledger, path } = ports;
    this.fingerprint = callFingerprint(tool.name, args);
    const earlier = unresolvedCall(ledger.effects, this.fingerprint, call.callId);
    if (earlier === undefined || attemptsOf(state).some(({ result }) => result?.effect !== 'none'))
      return true;
    this.key = earlier.key;
    if (tool.onRepeat === 'allow') return true;
    if (tool.onRepeat === 'confirm') return !asksToRepeat(this.#asking(), earlier.callId);
    ledger.append([refusalDraft(state, path, repeatRefused(tool.name, earlier.callId))]);
    return false;
  }

  /**
   * Makes the due requests, with functions of the user. An exception in them refuses the call, as
   * nothing was attempted.
   */
  async #asks(): Promise<boolean> {
    try {
      // A run that is cancelled or released meanwhile settles the call without an answer.
      return (await this.#untilAborted(asksBeforeAttempt(this.#asking())))?.value ?? true;
    } catch (thrown) {
      this.#refuse(
        classifyThrown(thrown, this.#attempt.ports.clock.now(), this.#attempt.tool.classify).result,
      );
      return true;
    }
  }

  #asking(): AskingCall {
    const attempt = this.#attempt;
    return {
      state: attempt.state,
      tool: attempt.tool,
      ports: attempt.ports,
      args: attempt.args,
      confirm: this.#confirm,
      context: () => attempt.context(),
      takeWrites: () => this.takeWrites(),
      note: (draft) => {
        this.#writes = joinedWrites([this.#writes, { drafts: [draft], extras: undefined }]);
      },
    };
  }

  #untilAborted<Value>(working: Promise<Value>): Promise<{ readonly value: Value } | undefined> {
    return untilAborted(working, { scope: this.#attempt.scope, clock: this.#attempt.ports.clock });
  }
}

/** Settles a call that cannot be attempted, as supervision decides. */
export function refuseCall(
  state: CallState,
  tool: Tool | undefined,
  result: ToolResult,
  { supervisor, ledger, path }: ToolCallPorts,
): void {
  const supervised = supervisor?.refused(state, tool, result);
  if (supervised === undefined) return void ledger.append([refusalDraft(state, path, result)]);
  ledger.append(
    [...supervised.writes.drafts, supervisedRefusal(state, path, supervised)],
    supervised.writes.extras,
  );
}
