import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { AnySchema } from '../base/schema.ts';
import type { Actor } from '../ledger/event.ts';
import type { OnExpire } from '../tools/request-options.ts';

/** Question of a step to people, and its addressees. */
export interface AskOptions {
  /** The question, in one line. */
  readonly message: string;
  /** More that people are shown. */
  readonly details?: JsonValue;
  /**
   * Milliseconds in which it can be answered, or `false` for no end.
   * @default `defaults.approvalExpiresInMs` of the runtime, else 1_800_000 (30 minutes), for
   * approvals; `defaults.inputExpiresInMs`, else 2_592_000_000 (30 days), for other questions
   */
  readonly expiresInMs?: number | false;
  /**
   * The outcome when the time is over: an approval is refused, another question throws; it goes to
   * `escalateTo`; or the default is the answer. @default 'reject'
   */
  readonly onExpire?: OnExpire;
  /** People who may answer after an escalation; needed for `onExpire: 'escalate'`. */
  readonly escalateTo?: readonly string[];
  /**
   * People who may answer: `user:ann`, `operator:cfo`; a name without a kind is that of a user.
   * @default anybody
   */
  readonly mayDecide?: readonly string[];
}

/** A question that is answered with a value. */
export interface AskForValue<Schema extends AnySchema> extends AskOptions {
  /** Schema of the answer. */
  readonly schema: Schema;
}

/** A question that is answered with yes or no. */
export interface AskForApproval extends AskOptions {
  readonly approval: true;
}

/** The answer to a question for approval. */
export interface Approval {
  readonly approved: boolean;
  /** Actor who decided; `runtime` when the time was over. */
  readonly by: Actor;
  readonly reason?: string;
  /** Changed form of what was approved, for questions that allow changes. */
  readonly input?: JsonValue;
}

/** Type of the values that a schema gives. */
export type ValueOf<Schema extends AnySchema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : JsonValue;

/** The instant at which a sleep ends, in epoch milliseconds or as a date. */
export interface SleepUntil {
  readonly until: number | Date;
}

/** A question of a step, as the engine carries it out: a child that waits for its answer. */
export interface Question {
  readonly kind: 'question';
  /** Key of the question in its step. */
  readonly name: string;
  /** Name of the step that asks. */
  readonly asker: string;
  readonly options: AskOptions;
  /** Schema of the answer; `undefined` for an approval. */
  readonly schema: AnySchema | undefined;
  /** JSON Schema of the answer, as people are shown it. */
  readonly inputSchema: JsonObject | undefined;
  /** Schema of what people may change before they approve, for an approval. */
  readonly edits?: AnySchema;
}

/** A wait for an instant, as the engine carries it out. */
export interface Sleep {
  readonly kind: 'sleep';
  /** Key of the sleep in its step. */
  readonly name: string;
}
