import { defined } from '../base/defined.ts';
import { checkOptions } from '../base/invalid-option.ts';
import type { JsonValue } from '../base/json.ts';
import { isCount, isFunction, type OptionCheck, type OptionChecks } from '../base/options.ts';
import { UserAnswerRefusedError } from './errors.ts';
import { idsOf, isIds } from './scripted-user.ts';
import { TerminalLines, type TerminalStreams, type TypedLine } from './terminal-lines.ts';
import {
  choices,
  questionHead,
  type ReadAnswer,
  readDecision,
  readInput,
  readJson,
} from './typed-answer.ts';
import type { User, UserAnswer, UserDone, UserQuestion, UserTurn } from './user.ts';

export interface HumanUserOptions {
  /**
   * The actor of the person's answers. Of several ids, the first that may decide is used.
   * @default 'human'
   */
  readonly id?: string | readonly string[];
  /**
   * Makes the text that is written before the person types the input for a tool or the result of an
   * operation.
   * @default the asking agent, the arguments, and the possible answers
   */
  readonly formatPrompt?: (question: UserQuestion) => string;
  /**
   * Makes what was typed the input for a tool or the result of an operation; when it throws, the
   * person is asked again.
   * @default a text where the schema wants one, or an object with one text; else JSON
   */
  readonly parseInput?: (typed: string, question: UserQuestion) => JsonValue;
  /**
   * Makes the text that is written before the person types a message.
   * @default the text said to the person since the last message, and `You: `
   */
  readonly messagePrompt?: (turn: UserTurn) => string;
  /** Number of times that a question is asked when the typed answer does not fit. @default 10 */
  readonly attempts?: number;
  /** @default stdin */
  readonly input?: TerminalStreams['input'];
  /** @default stdout */
  readonly output?: TerminalStreams['output'];
}

export interface HumanUser extends User {
  /** Gives the streams back; nothing can be asked after that. */
  close(): void;
}

const defaultAttempts = 10;

const isStream =
  (method: 'on' | 'write', expected: string): OptionCheck =>
  (value) =>
    typeof (value as { readonly [name: string]: unknown } | null)?.[method] === 'function'
      ? undefined
      : expected;

const checks: OptionChecks<HumanUserOptions> = {
  id: isIds,
  formatPrompt: isFunction,
  parseInput: isFunction,
  messagePrompt: isFunction,
  attempts: isCount,
  input: isStream('on', 'a readable stream'),
  output: isStream('write', 'a writable stream'),
};

/**
 * A person at a terminal. The end of the input and Ctrl-C end the conversation; what waits then
 * goes on waiting. Whatever is written has no control characters in it, so that arguments and
 * answers of models cannot steer the terminal.
 * @throws InvalidOptionError
 */
export function humanUser(options: HumanUserOptions = {}): HumanUser {
  checkOptions('humanUser', options, checks);
  const person = new Person(options);
  return Object.freeze({
    ids: idsOf(options.id, 'human'),
    attempts: options.attempts ?? defaultAttempts,
    answer: (question: UserQuestion) => person.answer(question),
    message: (turn: UserTurn) => person.message(turn),
    close: () => person.close(),
  });
}

const farewells: Readonly<Record<string, string>> = {
  ended: 'The input has ended.',
  interrupted: 'Interrupted at the terminal.',
  aborted: 'The conversation was aborted.',
};

class Person {
  readonly #options: HumanUserOptions;
  readonly #attempts: number;
  #lines: TerminalLines | undefined;

  constructor(options: HumanUserOptions) {
    this.#options = options;
    this.#attempts = options.attempts ?? defaultAttempts;
  }

  get #terminal(): TerminalLines {
    const { input = process.stdin, output = process.stdout } = this.#options;
    this.#lines ??= new TerminalLines({ input, output });
    return this.#lines;
  }

  close(): void {
    this.#terminal.close();
  }

  async message(turn: UserTurn): Promise<string | UserDone> {
    const { messagePrompt } = this.#options;
    const reply = turn.reply === '' ? '' : `\n${turn.reply}\n`;
    let prompt = messagePrompt === undefined ? `${reply}\nYou: ` : messagePrompt(turn);
    for (;;) {
      const typed = await this.#terminal.ask(prompt, turn.signal);
      if ('none' in typed) return goodbye(typed);
      // The end of the input ends this; an empty line is no message.
      if (typed.line.trim() !== '') return typed.line;
      prompt = 'You: ';
    }
  }

  async answer(question: UserQuestion): Promise<UserAnswer | UserDone> {
    if (question.refused !== undefined) this.#terminal.write(`\nNot taken: ${question.refused}\n`);
    const isInput = question.kind === 'input' || question.kind === 'result';
    return isInput ? this.#input(question) : this.#decision(question);
  }

  async #input(question: UserQuestion): Promise<UserAnswer | UserDone> {
    const { formatPrompt, parseInput } = this.#options;
    const hint = question.options.includes('reject') ? ' (or /no and a reason)' : '';
    const prompt =
      formatPrompt === undefined
        ? `${questionHead(question)}Answer${hint}: `
        : formatPrompt(question);
    const said = await this.#until(question, prompt, (typed): ReadAnswer => {
      const refusal = /^\/no(?:\s+(.*))?$/su.exec(typed.trim());
      if (refusal !== null && question.options.includes('reject')) {
        return {
          answer: {
            decision: 'reject',
            ...defined({ reason: refusal[1] }),
          },
        };
      }
      const read =
        parseInput === undefined
          ? readInput(typed, question.inputSchema)
          : parsed(parseInput, typed, question);
      return 'value' in read ? { answer: { decision: 'answer', input: read.value } } : read;
    });
    return answerIn(said);
  }

  async #decision(question: UserQuestion): Promise<UserAnswer | UserDone> {
    const said = await this.#until(
      question,
      `${questionHead(question)}${choices(question)}: `,
      (typed) => readDecision(typed, question),
    );
    if (!('wantsArgs' in said)) return answerIn(said);
    const prompt = `New arguments as JSON, in the place of\n  ${JSON.stringify(question.args)}\n: `;
    const edited = await this.#until(question, prompt, (typed): ReadAnswer => {
      const read = readJson(typed);
      return 'value' in read ? { answer: { decision: 'edit', input: read.value } } : read;
    });
    return answerIn(edited);
  }

  /** Asks until what is typed can be read. @throws UserAnswerRefusedError */
  async #until(
    question: UserQuestion,
    prompt: string,
    read: (typed: string) => ReadAnswer,
  ): Promise<Understood> {
    let shown = prompt;
    for (let attempt = 1; ; attempt++) {
      const typed = await this.#terminal.ask(shown, question.signal);
      if ('none' in typed) return goodbye(typed);
      const said = read(typed.line);
      if (!('complaint' in said)) return said;
      if (attempt >= this.#attempts)
        throw new UserAnswerRefusedError({ question, reason: said.complaint, times: attempt });
      shown = `${said.complaint}\n: `;
    }
  }
}

/** An input that was understood. */
type Understood = Exclude<ReadAnswer, { readonly complaint: string }> | UserDone;

function answerIn(said: Understood): UserAnswer | UserDone {
  if ('answer' in said) return said.answer;
  return 'done' in said ? said : {};
}

function goodbye({ none }: Extract<TypedLine, { none: unknown }>): UserDone {
  return { done: true, reason: farewells[none] ?? '' };
}

/**
 * Calls the parser. The error of a custom parser may hold the typed text, so it is not repeated.
 */
function parsed(
  parseInput: NonNullable<HumanUserOptions['parseInput']>,
  typed: string,
  question: UserQuestion,
): { readonly value: JsonValue } | { readonly complaint: string } {
  try {
    return { value: parseInput(typed, question) };
  } catch (error) {
    return {
      complaint: error instanceof SyntaxError ? 'This is not JSON.' : 'This could not be read.',
    };
  }
}
