import { defined } from '../../base/defined.ts';
import { isAdjutantError } from '../../base/error.ts';
import { describeValue } from '../../base/options.ts';
import type { RequestAnswer } from '../../engine/requests/check.ts';
import { InvalidAnswerError } from '../../engine/requests/errors.ts';
import type { RequestRow } from '../../ledger/port.ts';
import type { MessageAnswer, SimulatedProgram } from './simulated-program.ts';
import type { Watch } from './watch.ts';
import type { World } from './world.ts';

/** Codes of refusals that are the fault of the answer, and not of time or of another answer. */
const faultsOfAnswers = [
  'decision_not_offered',
  'input_mismatch',
  'invalid_answer',
  'may_not_decide',
  'not_json',
];

/** A program that has begun, and its way to answer. */
interface AnsweringProgram {
  readonly index: number;
  readonly session: string;
  readonly program: Pick<SimulatedProgram, 'answer'>;
}

interface AnswersParts {
  readonly world: World;
  readonly watch: Watch;
  readonly started: readonly AnsweringProgram[];
}

function isText(message: unknown): boolean {
  return typeof message === 'string' && message.trim() !== '';
}

function isAnswer(given: unknown): boolean {
  return typeof given === 'object' && given !== null && !(given instanceof Promise);
}

/** The answers of people to requests: those of the programs, or drawn ones. */
export class ProgramAnswers {
  readonly #parts: AnswersParts;

  constructor(parts: AnswersParts) {
    this.#parts = parts;
  }

  /**
   * Chooses an answer; `undefined` when the program gives a wrong one, which breaks a rule.
   * @param times number of times that people have come to the question of this call, from 1
   */
  choose(row: RequestRow, times: number, place: string): RequestAnswer | MessageAnswer | undefined {
    let given: unknown;
    try {
      given = this.#programOf(row)?.program.answer?.(row, times);
    } catch (error) {
      this.#report(row, 'throws', error);
      return undefined;
    }
    if (given === undefined) return this.#drawn(row, place);
    const { message } = (given ?? {}) as Partial<MessageAnswer>;
    const isOfMessage = message !== undefined;
    if (isOfMessage ? isText(message) : isAnswer(given))
      return given as RequestAnswer | MessageAnswer;
    const value: unknown = isOfMessage ? message : given;
    const found = value instanceof Promise ? 'a promise' : describeValue(value);
    const reason = isOfMessage
      ? `its \`message\` must be a text, not ${found}`
      : `it must be an object such as { decision: 'approve' }, not ${found}`;
    this.#report(row, 'is refused:', new InvalidAnswerError({ reason }));
    return undefined;
  }

  /** Waits until an answer is taken. A refusal for which it is to blame breaks a rule. */
  async given(row: RequestRow, answering: Promise<unknown>): Promise<void> {
    try {
      await answering;
    } catch (error) {
      if (faultsOfAnswers.some((code) => isAdjutantError(error, code)))
        this.#report(row, 'is refused:', error);
      throw error;
    }
  }

  #report(row: RequestRow, what: string, error: unknown): void {
    const { index, program } = this.#programOf(row) ?? {};
    const whose =
      program?.answer === undefined
        ? `the drawn answer for \`programs[${index}]\`, which has no \`answer\`,`
        : `\`answer\` of \`programs[${index}]\``;
    const about = `${whose} to the request of ${row.name} (${row.callId}) ${what} `;
    this.#parts.watch.reportError('answer_taken', error, about);
  }

  #programOf({ session }: RequestRow): AnsweringProgram | undefined {
    return this.#parts.started.find((one) => one.session === session);
  }

  #drawn(row: RequestRow, place: string): RequestAnswer {
    const { world } = this.#parts;
    const options = row.request.options.filter((option) => option !== 'edit');
    const decision = world.draws.at(`${place} choice`) < 0.8 ? options[0] : options.at(-1);
    const by = world.draws.oneOf(`${place} by`, row.mayDecide ?? ['user:ann', 'user:bob']);
    const isInput = decision === 'answer' || decision === 'succeeded';
    return {
      by,
      ...defined({ decision }),
      ...(isInput ? { input: 'yes' } : {}),
    };
  }
}
