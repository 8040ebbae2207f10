import type { Choice } from '../app/control.ts';
import { editByKey } from '../editor/edit-keys.ts';
import { type Editor, editorText, emptyEditor, insertText } from '../editor/editor.ts';
import type { Input } from '../editor/keys.ts';
import type { OpenRequest, SettledRequest } from '../feed/call-record.ts';
import { lineSpans } from '../screens/layout.ts';
import type { CardPart } from '../screens/live-view.ts';
import type { GivenDecision } from '../session/conversation.ts';
import { visibleString } from '../text/visible.ts';
import { isRefusedInput, refusalText } from './refusal-text.ts';
import { isForm, RequestForm } from './request-form.ts';
import { keysOf } from './request-keys.ts';
import { allowable, type ListedRequest, listedRequests } from './request-rows.ts';
import { type StandingChoice, standingChoices } from './standing-choices.ts';

/** Silence of the keyboard after which a request may take the focus by itself. */
const quietMs = 700;
/** Time in which the keys of a request mean nothing, because they were meant for something else. */
const deadMs = 350;

export interface RequestFocusParts {
  readonly now: () => number;
  /** Requests without an answer, oldest first, and those that were just answered. */
  readonly feed: () => {
    readonly requests: readonly OpenRequest[];
    readonly settledRequests: readonly SettledRequest[];
  };
  /** True when nothing is in the way of a request: no text, no list. */
  readonly isFree: () => boolean;
  readonly columns: () => number;
  readonly answer: (request: OpenRequest, given: GivenDecision) => Promise<void>;
  /** Called with the reason for which an answer was not taken. */
  readonly failed: (text: string) => void;
  /** Opens a text in the editor of the person. `take` gets the text that was saved. */
  readonly edit: (text: string, take: (text: string) => void) => void;
  /** Lets a person choose from a list. */
  readonly choose: (title: string, choices: readonly Choice[]) => void;
  /** Called when time has changed something. */
  readonly changed: () => void;
}

/** Question that an answer leads to: later calls to allow, other arguments, all that are left. */
type Asked = 'always' | 'edit' | 'all';

/** The request that is shown, and its keys. It takes no key that was not meant for it. */
export class RequestFocus {
  readonly #parts: RequestFocusParts;
  /** Requests whose answers are on their way. */
  readonly #answered = new Set<string>();
  /** Requests that were shown to their end. */
  readonly #seen = new Set<string>();
  #isFocused = false;
  /** True when a person chose the composer rather than the shown request. */
  #isLeft = false;
  #shown: string | undefined;
  #keyAt = Number.NEGATIVE_INFINITY;
  #liveAt = 0;
  /** True while keys are dead because a person has just answered another request. */
  #hasAnswered = false;
  #top = 0;
  #reason: Editor | undefined;
  #asked: Asked | undefined;
  /** True when one of several requests is shown whole. */
  #isDetail = false;
  #rowCount = 0;
  /** Forms with what was typed into them, by their requests. */
  readonly #forms = new Map<string, RequestForm>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: RequestFocusParts) {
    this.#parts = parts;
  }

  get open(): readonly OpenRequest[] {
    const { requests } = this.#parts.feed();
    return requests.filter(({ requestId }) => !this.#answered.has(requestId));
  }
  /** The open requests, and those of their rounds that have an answer. */
  get rows(): readonly ListedRequest[] {
    const { requests, settledRequests } = this.#parts.feed();
    return listedRequests(requests, settledRequests, this.#answered);
  }
  /** True when the requests are shown as a list. */
  get isList(): boolean {
    return !this.#isDetail && this.open.length > 0 && this.rows.length > 1;
  }
  /** True when one of several requests is shown whole. */
  get isDetail(): boolean {
    return this.#isDetail && this.rows.length > 1;
  }
  /** The request that is shown, or marked in the list. */
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
    if (request === undefined) return undefined;
    if (this.#asked !== 'edit' && (!isForm(request) || this.isList)) return undefined;
    const form = this.#forms.get(request.requestId) ?? new RequestForm(request);
    this.#forms.set(request.requestId, form);
    return form;
  }

  /** Later calls that the approval may allow as well, while that is asked. */
  get always(): readonly StandingChoice[] | undefined {
    const isAsked = this.#asked === 'always' && this.request !== undefined;
    return isAsked ? standingChoices(this.request) : undefined;
  }

  /** Every call that may be allowed, while that is asked. */
  get all(): readonly OpenRequest[] | undefined {
    const all = this.#asked === 'all' ? allowable(this.open) : [];
    return all.length === 0 ? undefined : all;
  }

  /** True when requests were shown to their end. */
  wasSeen(...requests: readonly OpenRequest[]): boolean {
    return requests.every(({ requestId }) => this.#seen.has(requestId));
  }

  /** Notes which part of requests is on the screen. */
  shows({ top, hasEnd }: CardPart, ...requests: readonly OpenRequest[]): void {
    this.#top = top;
    if (hasEnd) for (const { requestId } of requests) this.#seen.add(requestId);
  }

  /** Notes that a key came, whatever it was for. */
  keyCame(): void {
    this.#keyAt = this.#parts.now();
    if (!this.#parts.isFree()) this.#isLeft = this.request !== undefined;
    if (!this.#isFocused) this.#wake();
  }

  /** Looks at the requests anew: the one that was shown may be gone, and another one there. */
  look(): void {
    const { request, rows } = this;
    // A request that is being read stays whole when others come.
    const isRead = this.#rowCount === 1 && rows.length > 1 && this.isFocused && !this.isDead;
    this.#rowCount = rows.length;
    if (request?.requestId === this.#shown) {
      this.#isDetail ||= isRead;
      return;
    }
    this.#show(request);
    if (this.#isFocused) this.#die();
    else this.#wake();
  }

  #show(request: OpenRequest | undefined): void {
    this.#shown = request?.requestId;
    this.#isDetail = false;
    this.#isLeft = false;
    this.#ask(undefined);
    if (request === undefined) this.#isFocused = false;
  }

  #ask(asked: Asked | undefined): void {
    this.#asked = asked;
    this.#reason = undefined;
    this.#top = 0;
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

  #die(hasAnswered = false): void {
    this.#hasAnswered = hasAnswered;
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
    this.#ask(undefined);
  }

  /** Takes an input. Returns false when it is for the composer. */
  take(input: Input): boolean {
    const request = this.request;
    if (request === undefined) return false;
    if (this.isDead) return this.#tooEarly(input);
    const { form, always, all } = this;
    if (this.#reason !== undefined) this.#inReason(request, this.#reason, input);
    else if (form !== undefined) this.#inForm(request, form, input);
    else if (always !== undefined) this.#inAlways(request, always, input);
    else if (input.kind === 'text' && all !== undefined) this.#inAll(all, input.text);
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
    // A second `y` of somebody who answers one after the other is no message.
    if (this.#hasAnswered) return true;
    this.leave();
    return false;
  }

  #inAlways(request: OpenRequest, choices: readonly StandingChoice[], input: Input): void {
    if (input.kind === 'key' && input.key === 'escape') this.#ask(undefined);
    const chosen = input.kind === 'text' && choices.find((_, at) => input.text === `${at + 1}`);
    if (chosen) this.#answer(request, { decision: 'approve', always: chosen.always });
  }

  #inAll(all: readonly OpenRequest[], text: string): void {
    if (text === 'y') for (const request of all) this.#answer(request, { decision: 'approve' });
  }

  #inForm(request: OpenRequest, form: RequestForm, input: Input): void {
    if (input.kind === 'key' && input.key === 'escape') {
      this.#back();
      return;
    }
    if (input.kind === 'key' && input.ctrl === true && input.key === 'g') {
      this.#parts.edit(form.json, (text) => {
        form.takeJson(text);
        this.#parts.changed();
      });
      return;
    }
    const given = form.take(input, this.#parts.columns());
    const { choices } = form;
    if (choices !== undefined)
      this.#parts.choose(
        visibleString(choices.title, 'requestLine'),
        choices.labels.map((label, at) => ({
          ...{ text: label, line: lineSpans(label, {}, 'requestLine') },
          take: () => choices.take(at),
        })),
      );
    if (given !== undefined) this.#answer(request, given);
  }

  #letter(request: OpenRequest, text: string): void {
    if (text === 'e' && request.details.options.includes('edit')) this.#ask('edit');
    if (text === 'a' && standingChoices(request).length > 0) this.#ask('always');
    if (text === 'Y' && this.rows.length > 1) this.#ask('all');
    const decision = keysOf(request).find(({ key }) => key === text)?.decision;
    if (decision === undefined) return;
    if (decision === 'reject') this.#reason = emptyEditor;
    else this.#answer(request, { decision });
  }

  #key({ key, ctrl }: Extract<Input, { kind: 'key' }>): boolean {
    if (key === 'escape') this.#back();
    else if (key === 'tab') this.leave();
    else if (key === 'pageDown') this.#top += 5;
    else if (key === 'pageUp') this.#top = Math.max(0, this.#top - 5);
    else if (key === 'enter' && this.isList) this.#isDetail = true;
    else if (key === 'up' || key === 'down') this.#other(key === 'up' ? -1 : 1);
    return ctrl !== true;
  }

  /** Goes back to where the shown thing was asked for: the request, the list, the composer. */
  #back(): void {
    if (this.#asked !== undefined) this.#ask(undefined);
    else if (this.isDetail) {
      this.#isDetail = false;
      this.#top = 0;
    } else this.leave();
  }

  /** Shows the request before or after the shown one. */
  #other(by: 1 | -1): void {
    if (this.#asked !== undefined) return;
    const { open, request } = this;
    const at = request === undefined ? -1 : open.indexOf(request);
    const other = open[at + by];
    if (at === -1 || other === undefined) return;
    this.#shown = other.requestId;
    this.#top = 0;
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
    const { open } = this;
    const next = open[open.indexOf(request) + 1] ?? open.findLast((one) => one !== request);
    this.#answered.add(requestId);
    this.#show(next);
    if (next !== undefined) this.#die(true);
    this.#parts.answer(request, given).catch((error: unknown) => {
      // It waits as before, unless somebody else has answered it.
      this.#answered.delete(requestId);
      this.#refused(request, given, error);
    });
  }

  /** A form that was refused stays, with the reason. */
  #refused(request: OpenRequest, { decision }: GivenDecision, error: unknown): void {
    const { requestId } = request;
    const form = this.#forms.get(requestId);
    const isOpen = this.open.some((one) => one.requestId === requestId);
    if (form === undefined || form.decision !== decision || !isOpen || !isRefusedInput(error)) {
      this.#parts.failed(refusalText(request, error));
      if (isOpen && this.#parts.isFree()) this.#return(request);
      return;
    }
    form.problem = refusalText(request, error);
    this.#return(request);
    this.#isDetail = this.rows.length > 1;
    if (decision === 'edit') this.#ask('edit');
  }

  /** Goes back to a request whose answer was not taken. */
  #return(request: OpenRequest): void {
    this.#show(request);
    this.enter();
    this.#parts.changed();
  }
}
