import { AdjutantError } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';
import type { UserQuestion } from './user.ts';

/** Returns the question in one line. Arguments may be secret: people are shown the summary. */
function questionText({
  kind,
  toolName,
  agent,
  summary,
}: Pick<UserQuestion, 'kind' | 'toolName' | 'agent' | 'summary'>): string {
  return `${agent} asks for ${wanted[kind]} "${toolName}": ${summary}`;
}

const wanted: Readonly<Record<UserQuestion['kind'], string>> = {
  approval: 'leave to call',
  input: 'the input of',
  result: 'the result of',
  recovery: 'what became of',
  repeat: 'leave to repeat',
  limit: 'leave to exceed the',
};

/** A user was asked for what it has no answer to. The question stays open. */
export class UnansweredRequestError extends AdjutantError {
  constructor({ question, reason }: { question: UserQuestion; reason: string }) {
    const { requestId, kind, toolName, agent, summary, session } = question;
    super('user_has_no_answer', `The user has no answer: ${questionText(question)}. ${reason}`, {
      session: session.id,
      requestId,
      kind,
      toolName,
      agent,
      summary,
    });
  }
}

/**
 * An answer of a user was not taken, as often as it was asked. Neither message nor data hold what
 * it said.
 */
export class UserAnswerRefusedError extends AdjutantError {
  constructor({
    question,
    reason,
    times,
  }: { question: Omit<UserQuestion, 'signal'>; reason: string; times: number }) {
    const { requestId, kind, toolName, session } = question;
    const often = times === 1 ? 'once' : `${times} times`;
    super(
      'user_answer_refused',
      `The user's answer was refused ${often}: ${questionText(question)}. The last reason: ` +
        `${reason}`,
      {
        session: session.id,
        requestId,
        kind,
        toolName,
        reason,
      },
    );
  }
}

/** A scripted user was not asked for everything that it was prepared to say. */
export class UserScriptUnusedError extends AdjutantError {
  constructor(unused: Readonly<Record<string, number>>) {
    const parts = Object.entries(unused).map(([what, count]) => `${count} of ${what}`);
    super(
      'user_script_unused',
      `The scripted user was not asked for everything: ${parts.join(', ')} left over.`,
      { unused: unused as JsonObject },
    );
  }
}

/** The simulated user failed, waits for a person itself, or gave an answer that cannot be used. */
export class SimulatedUserError extends AdjutantError {
  constructor(data: { runnable: string; session: string; reason: string }) {
    super(
      'simulated_user',
      `The runnable "${data.runnable}", which plays the user in session "${data.session}", ` +
        `cannot go on: ${data.reason}`,
      data,
    );
  }
}

/** A user said something that is no message. */
export class InvalidUserMessageError extends AdjutantError {
  constructor({ found }: { found: string }) {
    super(
      'invalid_user_message',
      `A user says a text that is not empty, { done: true }, or nothing (undefined), not ${found}.`,
      { found },
    );
  }
}
