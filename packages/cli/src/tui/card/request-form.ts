import type { JsonValue } from 'adjutant';
import type { Input } from '../editor/keys.ts';
import type { OpenRequest } from '../feed/call-record.ts';
import { formOf } from '../requests/form.ts';
import { readFormInput } from '../requests/form-keys.ts';
import { contentWidth, formLines } from '../requests/form-lines.ts';
import {
  chooseIn,
  type FormState,
  focusedField,
  formJson,
  openForm,
  submitForm,
  unknownNames,
  withJson,
} from '../requests/form-state.ts';
import { emptyGutter, gutterSign, type Space, toned } from '../screens/layout.ts';
import type { Card, Screen } from '../screens/live-view.ts';
import type { GivenDecision } from '../session/conversation.ts';
import { type Line, spansOf } from '../text/spans.ts';
import { visible } from '../text/visible.ts';
import { wrapLine } from '../text/wrap.ts';

/** Lines of the screen that a form leaves to others. */
const otherRows = 11;

/** Choices of a field that are shown as a list. */
interface FormChoices {
  readonly title: string;
  readonly labels: readonly string[];
  take(at: number): void;
}

/** The form of a request: for the input that it asks for, or for other arguments of its call. */
export class RequestForm {
  readonly decision: 'answer' | 'edit';
  /** Reason for which the last answer was not taken. */
  problem: string | undefined;
  #state: FormState;
  /** Text from an editor that could not be read. */
  #unread: string | undefined;
  #hasPopup = false;

  constructor({ kind, args, details }: OpenRequest) {
    this.decision = kind === 'input' ? 'answer' : 'edit';
    this.#state = openForm(
      formOf(details.inputSchema ?? {}),
      ...(kind === 'input' ? [] : [args as JsonValue]),
    );
  }

  /** The form as JSON, for an editor. */
  get json(): string {
    return this.#unread ?? formJson(this.#state);
  }

  /** Fills the form in with JSON from an editor. Text that cannot be read is kept for the next. */
  takeJson(text: string): void {
    const { value, problem } = readJson(text);
    const names = value === undefined ? [] : unknownNames(this.#state, value);
    this.problem = problem ?? (names.length === 0 ? undefined : `There is no ${names.join(', ')}.`);
    this.#unread = this.problem === undefined ? undefined : text;
    if (value !== undefined && this.problem === undefined)
      this.#state = withJson(this.#state, value);
  }

  /** The choices of the focused field, while they are asked for. */
  get choices(): FormChoices | undefined {
    const field = this.#hasPopup ? focusedField(this.#state) : undefined;
    if (field?.kind !== 'choice') return undefined;
    return {
      title: field.label,
      labels: field.choices.map(({ label }) => label),
      take: (at) => {
        this.#state = chooseIn(this.#state, field, at);
      },
    };
  }

  /** Takes an input. Returns the answer when it is given. */
  take(input: Input, columns: number): GivenDecision | undefined {
    const reading = readFormInput(this.#state, input, contentWidth(this.#state, columns - 1));
    this.#state = reading.state;
    this.#hasPopup = reading.outcome === 'popup';
    if (reading.outcome !== 'send') return undefined;
    this.problem = undefined;
    const { state, check } = submitForm(this.#state);
    this.#state = state;
    return check.isWhole ? { decision: this.decision, input: check.value } : undefined;
  }

  card({ columns, rows, ascii }: Screen, isFocused: boolean): Omit<Card, 'title'> {
    const { lines, focused, cursor } = formLines(this.#state, { width: columns - 1, ascii });
    const keys = isFocused
      ? 'Tab ↑↓ field · Space choose · Alt-Enter send · Esc back · ^G as JSON'
      : 'Tab: answer';
    return {
      body: [...lines, ...this.#problemLines({ columns, ascii })],
      top: Math.max(0, focused.end - Math.max(1, rows - otherRows)),
      keys: () => [{ text: keys, dim: true }],
      ...(cursor === undefined || !isFocused ? {} : { cursor }),
    };
  }

  #problemLines(space: Space): Line[] {
    if (this.problem === undefined) return [];
    const spans = spansOf(visible(this.problem, 'requestLine').pieces, toned('failure'));
    return wrapLine(spans, space.columns - 3).map((line, at) => [
      at === 0 ? gutterSign('failed', toned('failure'), space) : emptyGutter,
      ...line,
    ]);
  }
}

function readJson(text: string): { readonly value?: JsonValue; readonly problem?: string } {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `The text is no JSON: ${reason}. ^G opens it again.` };
  }
}

/** True when a request is answered by a form, and by nothing else. */
export function isForm({ kind, details }: OpenRequest): boolean {
  return kind === 'input' && details.options.includes('answer');
}
