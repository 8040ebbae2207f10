import type { JsonObject } from '../base/json.ts';
import type { AgentDecisions } from '../ledger/decisions/agent-decisions.ts';
import type { DecisionMap } from '../ledger/decisions/decision-map.ts';
import type { SupervisionDecisions } from '../ledger/decisions/supervision-decisions.ts';
import type { EventOf } from '../ledger/event.ts';
import {
  editedKeys,
  namesOf,
  own,
  plain,
  type Sentence,
  type Subject,
  textOf,
  toolOf,
} from './decision-subject.ts';
import type { DerivedChoices } from './derived-choices.ts';
import { failureOf, loopRefusal, loopWarning } from './loop-words.ts';
import { planWords } from './words/plan-words.ts';
import { routingWords } from './words/routing-words.ts';
import { serviceWords } from './words/service-words.ts';
import { beginningWords, deadlineWords } from './words/task-words.ts';

/** Names of the decisions of a component, those that views derive from other events included. */
type NamesOf<Component> =
  | (Component extends keyof DecisionMap ? keyof DecisionMap[Component] : never)
  | (Component extends keyof DerivedChoices ? keyof DerivedChoices[Component] : never);

/** Sentences of components by decision. `other` is for decisions that have no words here. */
type Words<Component extends DecisionComponent> = {
  readonly [One in Component]: {
    readonly [Name in NamesOf<One> | 'other']: Sentence;
  };
};

/** A sentence about the call that was asked about, or about the question of a step. */
function asked(ofCall: Sentence, ofQuestion: (question: string) => string): Sentence {
  return (of) => {
    const question = textOf(of.data, 'question');
    return question === undefined ? ofCall(of) : ofQuestion(`The question "${question}"`);
  };
}

const guardOf = ({ data }: Subject): string => `The guardrail${nameAfter(data, 'guardrail')}`;
/** The text that each kind of guardrail checks. */
const guarded: Readonly<Record<string, string>> = {
  input: 'the input',
  modelCall: 'a model call',
  toolCall: 'a call of a tool',
  toolResult: 'a result of a tool',
  output: 'the answer',
};
const guardedOf = ({ data }: Subject): string => own(guarded, textOf(data, 'point')) ?? 'something';
/** Whom a failure goes to. */
const escalations: Readonly<Record<string, string>> = {
  caller: 'whoever called the agent is to deal with it',
  human: 'a person was asked what to do',
  failures: 'it was put on the list of failures',
};
const escalationOf = ({ data }: Subject): string =>
  own(escalations, textOf(data, 'escalateTo')) ?? 'somebody else was told of it';

function nameAfter(data: JsonObject, ...members: readonly string[]): string {
  const name = textOf(data, ...members);
  return name === undefined ? '' : ` "${name}"`;
}

const supervisionWords: Words<keyof SupervisionDecisions> = {
  loop_detector: {
    warn: loopWarning,
    block: loopRefusal,
    other: (of) => `The calls of ${toolOf(of)} by ${of.who} were judged: ${plain(of.decision)}.`,
  },
  error_router: {
    retry: (of) => `${toolOf(of)} failed and was run again at once.`,
    backoff: (of) => `${toolOf(of)} failed and was run again after a while.`,
    hint: (of) => `${failureOf(of)}, and ${of.who} was told what else to try.`,
    replan: (of) => `${failureOf(of)}, and ${of.who} was asked to plan the rest anew.`,
    decompose: (of) => `${failureOf(of)}, and ${of.who} was asked for smaller steps.`,
    raw: (of) => `${toolOf(of)} gave what could not be read, and ${of.who} got it as it came.`,
    fallbackTool: (of) =>
      `${toolOf(of)} failed, and${nameAfter(of.data, 'fallback') || ' another tool'} was ` +
      'run in its place.',
    escalate: (of) => `${failureOf(of)}, and ${escalationOf(of)}.`,
    report: (of) => `${failureOf(of)}, and ${of.who} was told that this way is closed.`,
    other: (of) => `A failure of ${toolOf(of)} was dealt with: ${plain(of.decision)}.`,
  },
  circuit_breaker: {
    open: (of) => `${toolOf(of)} is not run for now, because it failed several times in a row.`,
    half_open: (of) => `${toolOf(of)} is tried once, to find out whether it works again.`,
    close: (of) => `${toolOf(of)} works again and is run as usual.`,
    refuse: (of) => `A call of ${toolOf(of)} was refused, because it is switched off for now.`,
    other: (of) => `The circuit breaker of ${toolOf(of)} changed: ${plain(of.decision)}.`,
  },
  limits: {
    warn: (of) => `${of.who} has nearly used up a limit.`,
    exhausted: (of) =>
      of.data['reason'] === 'loop'
        ? `${of.who} may not call tools any more.`
        : `${of.who} has used up a limit.`,
    set: () => 'The run was given limits of its own.',
    too_many_waiting: () => 'The run was cancelled, because too many runs of its user wait.',
    message_expired: () => 'The run was cancelled, because no message came in time.',
    cost_unknown: () =>
      'A limit in dollars does not hold, because the price of a model is not known.',
    other: (of) => `A limit of ${of.who} was applied: ${plain(of.decision)}.`,
  },
  guardrail: {
    deny: (of) => `${guardOf(of)} stopped ${guardedOf(of)} of ${of.who}.`,
    guide: (of) =>
      `${guardOf(of)} let ${guardedOf(of)} of ${of.who} pass and told it how to do better.`,
    confirm: (of) => `${guardOf(of)} wants a person to confirm ${guardedOf(of)} of ${of.who}.`,
    transform: (of) => `${guardOf(of)} changed ${guardedOf(of)} of ${of.who}.`,
    other: (of) => `${guardOf(of)} judged ${guardedOf(of)} of ${of.who}: ${plain(of.decision)}.`,
  },
  result_check: {
    doubt: (of) => `${of.who} was told to doubt a result of ${toolOf(of)}.`,
    other: (of) => `A result of ${toolOf(of)} was checked: ${plain(of.decision)}.`,
  },
  permissions: {
    grant: (of) => `Permissions were granted: ${namesOf(of.data['permissions'])}.`,
    revoke: (of) => `Permissions were taken back: ${namesOf(of.data['permissions'])}.`,
    refuse: (of) => `A call of ${toolOf(of)} by ${of.who} was refused, because it may not be made.`,
    other: (of) => `The permissions of ${of.who} were looked at: ${plain(of.decision)}.`,
  },
};

const agentWords: Words<keyof AgentDecisions> = {
  hooks: {
    transfer: (of) => `A hook handed ${of.who} over to another agent.`,
    answer: (of) => `Something else answered ${of.who} in the place of its model.`,
    continue: (of) =>
      `Something else answered ${of.who} in the place of its model, and it went on.`,
    failed: (of) => `A hook of ${of.who} failed, and so did what it was asked about.`,
    change_output: (of) => `A hook changed what ${of.who} gives.`,
    change_answer: (of) => `A hook changed an answer of the model of ${of.who}.`,
    change_result: (of) => `A hook changed a result of a tool that ${of.who} had called.`,
    skip_tool: (of) => `A hook gave a result in the place of a tool that ${of.who} had called.`,
    replace_failure: (of) =>
      `A hook gave a result in the place of a failure of a tool that ${of.who} had called.`,
    refuse_transfer: (of) => `A hook wanted to hand ${of.who} over, which was refused.`,
    other: (of) => `A hook of ${of.who} decided: ${plain(of.decision)}.`,
  },
  error_handler: {
    throw: (of) => `An error handler of ${of.who} let an error end it.`,
    abort: (of) => `An error handler of ${of.who} ended it because of an error.`,
    skip: (of) => `An error handler of ${of.who} left out what had failed.`,
    retry: (of) => `An error handler of ${of.who} had what had failed done again.`,
    refuse_retry: (of) =>
      `An error handler of ${of.who} wanted another attempt, which could not be made.`,
    fallback: (of) =>
      `An error handler of ${of.who} put something else in the place of what had failed.`,
    pass: (of) => `An error handler of ${of.who} left an error to others.`,
    other: (of) =>
      `An error handler of ${of.who} decided what an error leads to: ${plain(of.decision)}.`,
  },
  models: {
    fallback: (of) =>
      `${of.who} goes on with ${textOf(of.data, 'to') ?? 'another model or another key'}.`,
    retry: (of) => `A model call of ${of.who} failed and was made again.`,
    cut: (of) =>
      `An answer of ${of.who} was cut off` +
      `${of.data?.['characters'] === 0 ? '.' : ', and its text so far is kept.'}`,
    nudge: (of) => `The model of ${of.who} answered with nothing, and was asked again.`,
    failed: (of) => `A model call of ${of.who} failed for good.`,
    forbidden: (of) => `The model of ${of.who} was not called, because real models are forbidden.`,
    other: (of) => `How the model of ${of.who} is called has changed: ${plain(of.decision)}.`,
  },
  output: {
    repair: (of) => `${of.who} was asked to repair an answer that does not fit.`,
    invalid: (of) => `${of.who} failed, because its answer does not fit.`,
    other: (of) => `The answer of ${of.who} was judged: ${plain(of.decision)}.`,
  },
  goal: {
    again: (of) => `${of.who} was sent back to work, because its answer does not reach the goal.`,
    unmet: (of) => `${of.who} ended without reaching its goal.`,
    other: (of) => `The goal of ${of.who} was checked: ${plain(of.decision)}.`,
  },
  context: {
    compact: (of) => `The older part of what ${of.who} reads was replaced by a summary.`,
    trim: (of) => `The older part of what ${of.who} reads was left out.`,
    shorten: (of) => `Long results in what ${of.who} reads were shortened.`,
    give_up: (of) =>
      `What ${of.who} has to read is too long for its model, and nothing more could be left out.`,
    other: (of) => `What ${of.who} reads was changed: ${plain(of.decision)}.`,
  },
};

const orphaned: Sentence = (of) =>
  `${of.who} was ended, because its code no longer asks for what the ledger has.`;

const runtimeWords: Words<
  Exclude<DecisionComponent, keyof SupervisionDecisions | keyof AgentDecisions>
> = {
  plan: planWords,
  request: {
    ask: asked(
      (of) =>
        `Somebody outside was asked about ${toolOf(of)} ` +
        `(${textOf(of.data, 'kind') ?? 'question'}).`,
      (question) => `${question} was put to somebody outside.`,
    ),
    answer: asked(
      (of) => `A question about ${toolOf(of)} was answered.`,
      (question) => `${question} was answered.`,
    ),
    approve: asked(
      (of) => `A call of ${toolOf(of)} was approved.`,
      (question) => `${question} was answered with yes.`,
    ),
    edit: (of) => `A call of ${toolOf(of)} was approved with other arguments.`,
    reject: asked(
      (of) => `A call of ${toolOf(of)} was rejected.`,
      (question) => `${question} was answered with no.`,
    ),
    expire: asked(
      (of) => `A question about ${toolOf(of)} was not answered in time.`,
      (question) => `${question} was not answered in time.`,
    ),
    escalate: asked(
      (of) => `A question about ${toolOf(of)} was passed on to others.`,
      (question) => `${question} was passed on to others.`,
    ),
    cancel: asked(
      (of) => `A question about ${toolOf(of)} was withdrawn.`,
      (question) => `${question} was withdrawn.`,
    ),
    withdraw: () => 'A question was withdrawn, because nothing needs its answer any more.',
    unusable: asked(
      (of) =>
        `What was answered about ${toolOf(of)} could not be used by the code that went on; ` +
        'it is kept.',
      (question) =>
        `The answer to ${question} could not be used by the code that went on; it is kept.`,
    ),
    standing: (of) =>
      `Calls of ${textOf(of.data, 'tool') ?? 'a tool'} like the approved one are allowed in this ` +
      'session from now on.',
    covered: (of) => `A call of ${toolOf(of)} was not asked about: calls like it are allowed.`,
    withdraw_standing: () => 'An approval that held for later calls was taken back.',
    notify: () => 'The app was told that a question waits for somebody.',
    ask_again: () => 'A question was asked again, because its answer could not be used.',
    other: (of) => `A question was dealt with: ${plain(of.decision)}.`,
  },
  scheduler: {
    enqueue: beginningWords,
    preempt: (of) => `${of.who} gave its place to a task of a higher priority after its round.`,
    soft_deadline: (of) => `${of.who} was told that its time is nearly over.`,
    hard_deadline: deadlineWords,
    reprioritize: (of) =>
      `Somebody gave the task the priority ${textOf(of.data, 'priority') ?? 'that it has'}.`,
    retry: (of) =>
      `The task is executed again as a whole (execution ${textOf(of.data, 'attempt') ?? '?'}).`,
    suspend: () => 'Somebody suspended the task.',
    resume: () => 'Somebody let the task go on.',
    move_to_front: () => 'Somebody put the task before all others.',
    leave: () => 'One of the callers waits for the task no more; others do.',
    discard: () => 'Somebody took the ended task out of the list.',
    coalesce: () => 'Another caller waits for the result of this task too.',
    other: (of) => `The scheduler decided: ${plain(of.decision)}.`,
  },
  ...serviceWords,
  ...routingWords,
  lifecycle: {
    refuse: () => 'The run was not let in.',
    other: (of) => `The lifecycle of the app decided: ${plain(of.decision)}.`,
  },
  handoff: {
    transfer: (of) =>
      `${textOf(of.data, 'from') ?? of.who} handed over to ` +
      `${textOf(of.data, 'to') ?? 'another agent'}.`,
    other: (of) => `${of.who} was handed over: ${plain(of.decision)}.`,
  },
  recovery: {
    interrupted: (of) => `A model call of ${of.who} was cut off before its answer was stored.`,
    repeat: (of) =>
      `${toolOf(of)} was run again, because an interruption had left it without a result.`,
    unknown: (of) =>
      `Nobody knows whether a call of ${toolOf(of)} took effect, and ${of.who} was told so.`,
    resolve: (of) => `Somebody told what came of a call of ${toolOf(of)}.`,
    resume: (of) => `${of.who} went on where it had stopped.`,
    other: (of) => `After an interruption: ${plain(of.decision)}.`,
  },
  tools: {
    retry: (of) => `${toolOf(of)} failed and was run again.`,
    other: (of) => `A call of ${toolOf(of)} was dealt with: ${plain(of.decision)}.`,
  },
  run: {
    pause: () => 'The run was paused.',
    interrupt: () => 'The answers under way were cut off, and the run went on.',
    cancel: () => 'The run was cancelled.',
    reopen: (of) => `${of.who} was opened again after it had ended.`,
    stop_early: (of) => `${of.who} ended with less than it was asked for.`,
    other: (of) => `The run was told: ${plain(of.decision)}.`,
  },
  failures: {
    escalate: (of) => `A failure of ${of.who} was put on the list of failures.`,
    other: (of) => `A failure of ${of.who} was dealt with: ${plain(of.decision)}.`,
  },
  inbox: {
    refuse: () => 'Something that was sent to the session came to nothing.',
    ambiguous_answer: () =>
      'A message answered nothing, because several calls wait for what it could be.',
    other: (of) => `Something that was sent to the session was dealt with: ${plain(of.decision)}.`,
  },
  approval_token: {
    refuse: () => 'A link for an approval was refused.',
    other: (of) => `A link for an approval was dealt with: ${plain(of.decision)}.`,
  },
  invoke: {
    accept_state_order: (of) =>
      `${of.who} went on, although its code no longer makes writes that the ledger has.`,
    accept_orphaned_child: (of) =>
      `${of.who} went on, although its code no longer asks for parts that the ledger has.`,
    accept_orphaned_effect: (of) =>
      `${of.who} went on, although its code no longer asks for effects that the ledger has.`,
    fail_orphaned_child: orphaned,
    fail_orphaned_effect: orphaned,
    other: orphaned,
  },
  parallel: {
    last_declared_wins: (of) =>
      `Branches of ${of.who} wrote the same state, and the last one in order was taken.`,
    other: (of) => `The branches of ${of.who} were joined: ${plain(of.decision)}.`,
  },
  spawn: {
    detach: () => 'Something that was started goes on by itself: nobody waits for it.',
    other: (of) => `Something that was started was dealt with: ${plain(of.decision)}.`,
  },
  session: {
    create: () => 'The session was made.',
    other: (of) => `The session was changed: ${plain(of.decision)}.`,
  },
  fork: {
    isolated: () =>
      'The session was made as a fork that keeps its writes to shared state to itself.',
    live: () => 'The session was made as a fork that takes part in shared state.',
    other: (of) => `The session was made as a fork: ${plain(of.decision)}.`,
  },
  edit: {
    state: (of) => `The state of the fork was edited: ${editedKeys(of)}.`,
    instructions: (of) =>
      `The fork was made with other instructions of${nameAfter(of.data, 'agent') || ' an agent'}.`,
    message: (of) =>
      `The fork was made with another text of the message #${String(of.data['seq'] ?? '?')}.`,
    other: (of) => `The fork was edited: ${plain(of.decision)}.`,
  },
  shared_state: {
    bind_scopes: () => 'The session takes part in shared state.',
    refuse_write: (of) => `A write to shared state by ${of.who} was refused.`,
    other: (of) => `Shared state was dealt with: ${plain(of.decision)}.`,
  },
  eval: {
    trial: (of) =>
      `The session is a trial of the case "${String(of.data['case'])}" in the eval ` +
      `"${String(of.data['eval'])}".`,
    scenario_end: () => 'The simulated user had nothing more to say.',
    begin: (of) => `The run "${String(of.data['runId'])}" of an eval began.`,
    finish: (of) => `The run "${String(of.data['runId'])}" of an eval finished.`,
    other: (of) => `An eval noted: ${plain(of.decision)}.`,
  },
};

const knownWords: Words<DecisionComponent> = {
  ...supervisionWords,
  ...agentWords,
  ...runtimeWords,
};
const words: Readonly<
  Record<string, Readonly<Record<string, Sentence>> & { readonly other: Sentence }>
> = knownWords;

/** The components of this package that decide. */
export type DecisionComponent = keyof DecisionMap | keyof DerivedChoices;

/** A decision as a plain sentence. */
export function decisionSentence(
  { component, decision, data = {} }: Pick<EventOf<'decision'>, 'component' | 'decision' | 'data'>,
  who: string,
): string {
  const known = own(words, component);
  const subject: Subject = { who, decision, data };
  const sentence =
    known === undefined
      ? `${component} decided: ${plain(decision)}.`
      : (own(known, decision) ?? known.other)(subject);
  // Names stay as they are.
  return /^(?:a|the) /.test(sentence)
    ? sentence.charAt(0).toUpperCase() + sentence.slice(1)
    : sentence;
}
