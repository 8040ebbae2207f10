import type { AppControl } from '../app/control.ts';
import { lineSpans } from '../screens/layout.ts';

const keys = '↑↓ choose · Enter take · Esc leave';

/** An answer that a person can choose. */
export interface StartAnswer<Value> {
  readonly words: string;
  /** Words that say more about it. */
  readonly more?: string | undefined;
  readonly value: Value;
}

/** Questions that the app asks before it has a session. Closing one of them leaves the app. */
export class StartQuestions {
  readonly #app: Pick<AppControl, 'choose' | 'note' | 'leave'>;

  constructor(app: Pick<AppControl, 'choose' | 'note' | 'leave'>) {
    this.#app = app;
  }

  ask<Value>(question: string, answers: readonly StartAnswer<Value>[]): Promise<Value> {
    const { promise, resolve } = Promise.withResolvers<Value>();
    const widest = Math.max(...answers.map(({ words }) => words.length));
    const choices = answers.map(({ words, more = '', value }, at) => ({
      line: [
        { text: `${at + 1}  ` },
        ...lineSpans(words.padEnd(widest + 2)),
        ...lineSpans(more, { dim: true }),
      ],
      text: `${at + 1} ${words}`,
      take: () => resolve(value),
    }));
    this.#app.choose(question, choices, { keys, onClose: () => this.#app.leave() });
    return promise;
  }

  say(text: string): void {
    this.#app.note({ sign: 'note', tone: 'plain', text });
  }

  leave(): void {
    this.#app.leave();
  }
}
