import { describeFailure } from '../../failure.ts';
import { editByKey } from '../editor/edit-keys.ts';
import { type Editor, editorText, emptyEditor, insertText } from '../editor/editor.ts';
import type { Input } from '../editor/keys.ts';
import type { OpenRequest } from '../feed/call-record.ts';
import type { GivenDecision } from '../session/conversation.ts';
import { isForm, RequestForm } from './request-form.ts';
import { keysOf } from './request-keys.ts';
import { type StandingChoice, standingChoices } from './standing-choices.ts';

/** Silence of the keyboard after which a request may take the focus by itself. */
const quietMs = 700;
/** Time in which the keys of a request mean nothing, because they were meant for something else. */
const deadMs = 350;

export interface RequestFocusParts {
  readonly now: () => number;
  /** Requests without an answer, oldest first. */
  readonly requests: () => readonly OpenRequest[];
  /** True when nothing is in the way of a request: no text, no list. */
  readonly isFree: () => boolean;
  readonly columns: () => number;
  readonly answer: (request: OpenRequest, given: GivenDecision) => Promise<void>;
  readonly failed: (error: unknown) => void;
  /** Called when time has changed something. */
  readonly changed: () => void;
}

/** The request that is shown, and its keys. It takes no key that was not meant for it. */
export class RequestFocus {
  readonly #parts: RequestFocusParts;
  /** Requests whose answers are on their way. */
  readonly #answered = new Set<string>();
  #isFocused = false;
  /** True when a person chose the composer rather than the shown request. */
  #isLeft = false;
  #shown: string | undefined;
  #keyAt = Number.NEGATIVE_INFINITY;
  #liveAt = 0;
  #top = 0;
  #reason: Editor | undefined;
  #isAlways = false;
  #isEditing = false;
  /** Forms with what was typed into them, by their requests. */
  readonly #forms = new Map<string, RequestForm>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: RequestFocusParts) {
    this.#parts = parts;
  }

  get open(): readonly OpenRequest[] {
    return this.#parts.requests().filter(({ requestId }) => !this.#answered.has(requestId));
  }
  /** The request that is shown. */
  get request(): OpenRequest | undefined {
    const { open } = this;
    return open.find(({ requestId }) => requestId === this.#shown) ?? open[0];
  }
  get isFocused(): boolean {
    return this.#isFocused && this.request !== undefined;
  }
  /** True while the keys mean nothing. */
  get isDead(): boolean {
    return this.#parts.now() < this.#liveAt;
  }
  get top(): number {
    return this.#top;
  }
  /** The reason that is being written. */
  get reason(): Editor | undefined {
    return this.#reason;
  }

  /** The form that is filled in. */
  get form(): RequestForm | undefined {
    const { request } = this;
    if (request === undefined || !(this.#isEditing || isForm(request))) return undefined;
    const form = this.#forms.get(request.requestId) ?? new RequestForm(request);
    this.#forms.set(request.requestId, form);
    return form;
  }

  /** Later calls that the approval may allow as well, while that is asked. */
  get always(): readonly StandingChoice[] | undefined {
    return this.#isAlways && this.request !== undefined ? standingChoices(this.request) : undefined;
  }

  /** Notes that a key came, whatever it was for. */
  keyCame(): void {
    this.#keyAt = this.#parts.now();
    if (!this.#parts.isFree()) this.#isLeft = this.request !== undefined;
    if (!this.#isFocused) this.#wake();
  }

  /** Looks at the requests anew: the one that was shown may be gone, and another one there. */
  look(): void {
    const request = this.request;
    if (request?.requestId === this.#shown) return;
    this.#show(request);
    if (this.#isFocused) this.#die();
    else this.#wake();
  }

  #show(request: OpenRequest | undefined): void {
    this.#shown = request?.requestId;
    this.#top = 0;
    this.#reason = undefined;
    this.#isAlways = false;
    this.#isEditing = false;
    this.#isLeft = false;
    if (request === undefined) this.#isFocused = false;
  }

  /** Takes the focus when nothing is in its way, now or when it has been quiet for long enough. */
  #wake(): void {
    clearTimeout(this.#timer);
    if (this.request === undefined || this.#isFocused || this.#isLeft) return;
    const wait = this.#keyAt + quietMs - this.#parts.now();
    if (wait > 0) {
      this.#after(wait, () => this.#wake());
      return;
    }
    if (!this.#parts.isFree()) return;
    this.#isFocused = true;
    this.#die();
  }

  #die(): void {
    this.#liveAt = this.#parts.now() + deadMs;
    this.#after(deadMs, () => undefined);
    this.#parts.changed();
  }

  #after(ms: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      act();
      this.#parts.changed();
    }, ms);
    this.#timer.unref();
  }

  /** Goes to the request because a person asked for it. Returns false when there is none. */
  enter(): boolean {
    if (this.request === undefined) return false;
    clearTimeout(this.#timer);
    this.#isFocused = true;
    this.#liveAt = 0;
    return true;
  }

  /** Goes back to the composer. Nothing is answered. */
  leave(): void {
    clearTimeout(this.#timer);
    this.#isFocused = false;
    this.#isLeft = true;
    this.#isAlways = false;
    this.#isEditing = false;
    this.#reason = undefined;
  }

  /** Takes an input. Returns false when it is for the composer. */
  take(input: Input): boolean {
    const request = this.request;
    if (request === undefined) return false;
    if (this.isDead) return this.#tooEarly(input);
    const { form } = this;
    if (this.#reason !== undefined) this.#inReason(request, this.#reason, input);
    else if (form !== undefined) this.#inForm(request, form, input);
    else if (this.always !== undefined) this.#inAlways(request, this.always, input);
    else if (input.kind === 'text') this.#letter(request, input.text);
    else if (input.kind === 'key') return this.#key(input);
    return true;
  }

  /** A text that comes too early is one for the composer, and takes the focus with it. */
  #tooEarly(input: Input): boolean {
    if (input.kind === 'key') {
      if (input.key === 'escape' || input.key === 'tab') this.leave();
      return true;
    }
    this.leave();
    return false;
  }

  #inAlways(request: OpenRequest, choices: readonly StandingChoice[], input: Input): void {
    if (input.kind === 'key' && input.key === 'escape') this.#isAlways = false;
    const chosen = input.kind === 'text' && choices.find((_, at) => input.text === `${at + 1}`);
    if (chosen) this.#answer(request, { decision: 'approve', always: chosen.always });
  }

  #inForm(request: OpenRequest, form: RequestForm, input: Input): void {
    if (input.kind === 'key' && input.key === 'escape') {
      if (this.#isEditing) this.#isEditing = false;
      else this.leave();
      return;
    }
    const given = form.take(input, this.#parts.columns());
    if (given !== undefined) this.#answer(request, given);
  }

  #letter(request: OpenRequest, text: string): void {
    if (text === 'e' && request.details.options.includes('edit')) this.#isEditing = true;
    if (text === 'a' && standingChoices(request).length > 0) this.#isAlways = true;
    const decision = keysOf(request).find(({ key }) => key === text)?.decision;
    if (decision === undefined) return;
    if (decision === 'reject') this.#reason = emptyEditor;
    else this.#answer(request, { decision });
  }

  #key({ key, ctrl }: Extract<Input, { kind: 'key' }>): boolean {
    if (key === 'escape' || key === 'tab') this.leave();
    else if (key === 'pageDown') this.#top += 5;
    else if (key === 'pageUp') this.#top = Math.max(0, this.#top - 5);
    else if (key === 'up' || key === 'down') this.#other(key === 'up' ? -1 : 1);
    return ctrl !== true;
  }

  /** Shows the request before or after the shown one. */
  #other(by: 1 | -1): void {
    const { open, request } = this;
    const at = request === undefined ? -1 : open.indexOf(request);
    const other = open[at + by];
    if (at !== -1 && other !== undefined) this.#show(other);
  }

  #inReason(request: OpenRequest, reason: Editor, input: Input): void {
    if (input.kind === 'text') this.#reason = insertText(reason, input.text);
    if (input.kind !== 'key') return;
    if (input.key === 'escape') this.#reason = undefined;
    else if (input.key === 'enter') {
      const text = editorText(reason).trim();
      this.#answer(request, { decision: 'reject', ...(text === '' ? {} : { reason: text }) });
    } else this.#reason = editByKey(reason, input) ?? reason;
  }

  #answer(request: OpenRequest, given: GivenDecision): void {
    const { requestId } = request;
    this.#answered.add(requestId);
    this.#reason = undefined;
    this.#isAlways = false;
    this.#isEditing = false;
    this.look();
    this.#parts.answer(request, given).catch((error: unknown) => {
      // It waits as before, unless somebody else has answered it.
      this.#answered.delete(requestId);
      this.#refused(requestId, given, error);
    });
  }

  /** A form that was refused stays, with the reason. */
  #refused(requestId: string, { decision }: GivenDecision, error: unknown): void {
    const form = this.#forms.get(requestId);
    const isOpen = this.open.some((one) => one.requestId === requestId);
    if (form === undefined || form.decision !== decision || !isOpen) {
      this.#parts.failed(error);
      return;
    }
    form.problem = describeFailure(error);
    this.#shown = requestId;
    this.#isEditing = decision === 'edit';
    this.enter();
    this.#parts.changed();
  }
}
