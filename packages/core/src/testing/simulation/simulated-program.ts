import type { JsonObject } from '../../base/json.ts';
import type { RequestAnswer } from '../../engine/requests/check.ts';
import type { SubmitOptions } from '../../engine/tasks/submit-options.ts';
import type { RequestRow } from '../../ledger/port.ts';
import type { Resolution } from '../../session/answer.ts';

/** An effect of unknown outcome, by which a run has failed. */
export interface UnknownEffect {
  /** Id of the effect: `run/step/charge`. */
  readonly callId: string;
  /** Name that its body gives it: `charge`. */
  readonly key: string;
  /** Number of its last attempt. */
  readonly attempt: number;
}

/** Outcome of an effect that people have found out. */
export type FoundOutcome = Omit<Resolution, 'by'>;

/** A message that people give in the place of an answer. */
export interface MessageAnswer {
  /** Text that the run may read as the input which it waits for. */
  readonly message: string;
}

/** A run that people ask for, and their answers to what it asks. */
export interface SimulatedProgram {
  /** Name of the runnable. */
  readonly run: string;
  /** Message of the user. */
  readonly input?: string;
  readonly data?: JsonObject;
  /** Id of the user, whose scope the session shares with other sessions. */
  readonly user?: string;
  /**
   * Answer to a request of the run; `undefined` leaves it to the default. @default the first option
   * or the last, as drawn; with an input of `'yes'` where one is asked for. `{ message }` is sent
   * to the session instead, to be read as the input. When it answers nothing, people ask again,
   * with `times` one higher.
   */
  readonly answer?: (
    request: RequestRow,
    times: number,
  ) => RequestAnswer | MessageAnswer | undefined;
  /**
   * Outcome that people find out of an effect whose unknown outcome has failed the run. They tell
   * it, and reopen the run. `undefined` leaves the run as it is. @default nobody repairs it
   */
  readonly repair?: (effect: UnknownEffect) => FoundOutcome | undefined;
  /** Run that people begin in another lane of the session, a while after this one. */
  readonly beside?: RunBeside;
  /**
   * Settings of the task as which the run is submitted. It waits for its turn; people suspend it
   * and let it go on, and make it urgent, where they pause other runs. @default no task
   */
  readonly task?: SimulatedTask;
}

/** Settings of a task. */
export interface SimulatedTask extends Pick<SubmitOptions, 'priority'> {
  /** Key of which only one task runs at a time. */
  readonly concurrencyKey?: string;
}

/** A run in a lane of its own, in the session of another run. */
export interface RunBeside {
  /** Name of the lane. */
  readonly lane: string;
  /** Name of the runnable. */
  readonly run: string;
  /** Message of the user. */
  readonly input?: string;
}

/** A program with the session and the run that it has in a simulation. */
export interface StartedProgram {
  readonly program: SimulatedProgram;
  readonly index: number;
  readonly session: string;
  readonly runId: string;
  /** Lane of the run. Missing: the default lane. */
  readonly lane?: string;
  /** True when the store has confirmed the request. */
  isAccepted: boolean;
}
