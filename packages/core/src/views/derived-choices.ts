/**
 * Choices that views derive from events of other types than `decision`: component, then choice.
 * The value says nothing; a choice has no data of its own type.
 */
export interface DerivedChoices {
  readonly request: Choices<'ask' | 'answer' | 'approve' | 'edit' | 'reject' | 'expire' | 'cancel'>;
  readonly recovery: Choices<'interrupted' | 'repeat' | 'unknown' | 'resolve' | 'resume'>;
  readonly tools: Choices<'retry'>;
  readonly models: Choices<'retry' | 'failed'>;
  readonly run: Choices<'cancel' | 'reopen' | 'stop_early'>;
  readonly handoff: Choices<'transfer'>;
  readonly failures: Choices<'escalate'>;
}

type Choices<Name extends string> = { readonly [One in Name]: unknown };
