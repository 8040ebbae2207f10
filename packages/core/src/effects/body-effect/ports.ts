import type { CancelScope } from '../../base/cancel-scope.ts';
import type { Clock } from '../../base/clock.ts';
import type { Actor, EventOf } from '../../ledger/event.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { EffectContext, EffectOptions } from '../../session/body-context.ts';
import type { Writes } from '../writes.ts';

/** One attempt of an effect, as recorded in the ledger. */
export interface EffectAttempt {
  readonly attempt: number;
  readonly key: string;
  readonly deadline: number;
  readonly seq: number;
  readonly at: number;
  /** Missing while the attempt runs, or when its process died. */
  result: EventOf<'tool_result'> | undefined;
}

/** Everything that the ledger has of one effect. */
export interface EffectRecord {
  readonly attempts: EffectAttempt[];
  settled: EventOf<'tool_result'> | undefined;
  /** True when the unknown outcome of the last attempt is judged again, by the present recovery. */
  judgesAgain: boolean;
}

/** Work of an effect, and the name under which it is recorded. */
export interface EffectRequest {
  readonly key: string;
  readonly callId: string;
  readonly run: (ctx: EffectContext) => unknown;
  readonly options: EffectOptions;
}

export interface EffectPorts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Aborted when the body or the run must stop. */
  readonly scope: CancelScope;
  /** Path that the events carry. */
  readonly path: string;
  readonly by: Actor;
  /** Takes the state that the body has written. It is recorded with the first attempt. */
  takeWrites(): Writes;
}
