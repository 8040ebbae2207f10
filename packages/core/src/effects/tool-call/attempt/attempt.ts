import { CancelScope } from '../../../base/cancel-scope.ts';
import type { EventOf } from '../../../ledger/event.ts';
import type { CallState } from '../../../loop/call-state.ts';
import { ChildInPrepareError } from '../../../tools/errors.ts';
import type { FinalizeContext, Tool } from '../../../tools/tool.ts';
import { idempotencyKey } from '../../idempotency-key.ts';
import { isReleased } from '../../released.ts';
import { untilAborted } from '../../until-aborted.ts';
import type { ToolAttempt, ToolBody, ToolCallPorts } from '../ports.ts';
import type { SupervisedCall } from '../supervisor.ts';
import { AttemptTimer } from './attempt-timer.ts';

/**
 * Stage of an attempt. `prepare`: nothing is recorded yet. `finish`: the tool has done its work,
 * and its result is checked and finalized.
 */
type Stage = 'prepare' | 'execute' | 'finish';

/** One attempt of a tool call: the state that its steps share. */
export class Attempt implements ToolAttempt {
  readonly state: CallState;
  readonly tool: Tool;
  readonly attempt: number;
  readonly ports: ToolCallPorts;
  readonly scope: CancelScope;
  readonly timer: AttemptTimer;
  args: unknown;
  input: unknown;
  result: unknown;
  key: string;
  /** Notes for the model from the checks before the attempt. */
  guidance: readonly string[] = [];
  stage: Stage = 'prepare';
  #body: ToolBody | undefined;

  constructor({ state, tool, attempt, args }: SupervisedCall, ports: ToolCallPorts) {
    this.state = state;
    this.tool = tool;
    this.attempt = attempt;
    this.args = args;
    this.ports = ports;
    this.key = idempotencyKey(ports.ledger, state);
    this.scope = new CancelScope(ports.scope);
    this.timer = new AttemptTimer(this);
  }

  get call(): EventOf<'tool_call'> {
    return this.state.call;
  }

  get deadline(): number {
    return this.timer.deadline;
  }

  /** Body of the tool. Missing until its context was made. */
  get body(): ToolBody | undefined {
    return this.#body;
  }

  context(): FinalizeContext {
    this.#body ??= this.ports.makeBody(this);
    return this.#body.context;
  }

  beforeChild(): void {
    if (this.stage === 'prepare') throw new ChildInPrepareError({ tool: this.tool.name });
    this.timer.extendForChild();
  }

  isReleased(): boolean {
    return isReleased({ scope: this.scope, ledger: this.ports.ledger });
  }

  untilAborted<Value>(working: Promise<Value>): Promise<{ readonly value: Value } | undefined> {
    return untilAborted(
      working,
      { scope: this.scope, clock: this.ports.clock },
      this.#body?.released,
    );
  }

  /**
   * Ends the attempt in this process. An abandoned tool may go on for as long as it likes: its
   * context refuses further calls.
   */
  close(): void {
    this.timer.stop();
    this.scope.close();
    this.#body?.close();
  }
}
