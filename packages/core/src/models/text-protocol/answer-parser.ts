import type { AnswerSink, WrittenAction } from './answer-parts.ts';
import { HeldLines, lineOpening } from './held-lines.ts';
import { type Marker, markerOf, mayBecomeMarker } from './markers.ts';
import { isNoAction } from './spellings/action-text.ts';
import { type HeldText, readHeld } from './spellings/held-text.ts';
import type { OfferedTools } from './spellings/offered-tools.ts';
import { openerIn } from './spellings/openers.ts';
import { splitThinking } from './thinking.ts';

/** The most that is skipped behind the colon of a marker: the end of its emphasis, and blanks. */
const decoration = /^[*_]{0,3}[ \t]{0,8}/;
const longestDecoration = 11;
/** Text that is remembered, because it decides if a call that follows is meant. */
const longestBefore = 400;

type Mode = 'start' | 'held' | 'thought' | 'text' | 'action' | 'answer' | 'thinking' | 'over';

const modeOf: { readonly [Key in Marker]: Mode } = {
  thought: 'thought',
  action: 'action',
  answer: 'answer',
  observation: 'over',
};

/**
 * Reads an answer of the text protocol as it is streamed. The result does not depend on the sizes
 * of the pieces.
 *
 * Behind `Final Answer:` everything is the answer. Only tools write observations, so text behind
 * one is left out. An answer beside an action is left out too, because the model had not seen the
 * result. Text before the first marker is for the user. Lines that may be a call without its marker
 * are held back until it is certain.
 */
export class AnswerParser {
  readonly #sink: AnswerSink;
  readonly #tools: OfferedTools;
  readonly #actions: WrittenAction[] = [];
  #mode: Mode = 'start';
  /** The beginning of a line, as long as it may be a marker. */
  #pending = '';
  #isLineStart = true;
  #held: HeldLines | undefined;
  #blanks = '';
  #before = '';
  /** The last characters that were read, blanks included. */
  #recent = '';
  #isFirst = true;

  constructor(sink: AnswerSink, tools: OfferedTools) {
    this.#sink = sink;
    this.#tools = tools;
  }

  push(delta: string): void {
    if (this.#mode === 'over') return;
    this.#pending += delta;
    this.#read(false);
  }

  /** True when all that follows is left out. */
  get isOver(): boolean {
    return this.#mode === 'over';
  }

  /** The actions of the answer. `isCut`: it ended before the model had finished. */
  end(isCut: boolean): readonly WrittenAction[] {
    this.#read(true);
    this.#settle(isCut);
    return this.#actions;
  }

  #read(isEnd: boolean): void {
    while (this.#pending !== '' && this.#mode !== 'over') {
      if (this.#mode === 'thinking') {
        if (!this.#think(isEnd)) return;
        continue;
      }
      if (this.#isLineStart && this.#mode !== 'answer') {
        const step = this.#readLineStart(isEnd);
        if (step === 'wait') return;
        if (step === 'begun') continue;
      }
      const newline = this.#mode === 'answer' ? -1 : this.#pending.indexOf('\n');
      const line = newline === -1 ? this.#pending : this.#pending.slice(0, newline + 1);
      const piece = this.#isProse ? this.#untilOpener(line, isEnd) : line;
      if (piece === 'wait') return;
      if (piece === '') continue;
      this.#pending = this.#pending.slice(piece.length);
      this.#isLineStart = piece.endsWith('\n') && newline !== -1;
      this.#recent = (this.#recent + piece).slice(-10);
      this.#take(piece);
    }
  }

  get #isProse(): boolean {
    return this.#mode === 'start' || this.#mode === 'text' || this.#mode === 'thought';
  }

  #readLineStart(isEnd: boolean): 'begun' | 'wait' | 'none' {
    const found = markerOf(this.#pending);
    if (found === undefined) {
      if (!isEnd && mayBecomeMarker(this.#pending)) return 'wait';
      return this.#isProse ? this.#openLine(isEnd) : 'none';
    }
    return this.#skipMarker(found.end, isEnd, found.marker);
  }

  #skipMarker(end: number, isEnd: boolean, marker: Marker): 'begun' | 'wait' {
    const rest = this.#pending.slice(end);
    const skipped = decoration.exec(rest)?.[0].length ?? 0;
    if (!isEnd && skipped === rest.length && skipped < longestDecoration) return 'wait';
    this.#pending = rest.slice(skipped);
    this.#isLineStart = false;
    this.#settle(false);
    this.#begin(marker);
    return 'begun';
  }

  /** Looks for a line that begins thoughts in tags, or a call without its marker. */
  #openLine(isEnd: boolean): 'begun' | 'wait' | 'none' {
    const opening = lineOpening(this.#pending, this.#tools, this.#mode === 'start');
    if (opening === 'part') return isEnd ? 'none' : 'wait';
    if (opening === undefined) return 'none';
    if (opening === 'held') this.#hold();
    else {
      this.#pending = this.#pending.slice(opening.thinking);
      this.#mode = 'thinking';
      this.#blanks = '';
      this.#isFirst = true;
    }
    return 'begun';
  }

  #hold(): void {
    const behind = this.#mode === 'start' ? 'nothing' : (this.#mode as 'text' | 'thought');
    this.#held = new HeldLines(behind);
    this.#mode = 'held';
    this.#isLineStart = false;
  }

  /** The part of a line before a call in its middle. Empty: the call begins here. */
  #untilOpener(line: string, isEnd: boolean): string {
    const opener = openerIn(line, this.#recent);
    if (opener === undefined || (opener.kind === 'answer' && this.#mode !== 'thought')) return line;
    if (opener.at > 0) return line.slice(0, opener.at);
    if (opener.kind === 'part') return isEnd ? line : 'wait';
    if (opener.kind === 'call') this.#hold();
    else if (this.#skipMarker('final answer:'.length, isEnd, 'answer') === 'wait') return 'wait';
    return '';
  }

  /** Reads thoughts up to their closing tag. False: more of them must come first. */
  #think(isEnd: boolean): boolean {
    const { thought, rest, isClosed } = splitThinking(this.#pending, isEnd);
    this.#pending = rest;
    if (thought.trim() === '') this.#blanks += thought;
    else this.#give(thought);
    if (!isClosed) return false;
    this.#mode = 'start';
    this.#isLineStart = true;
    this.#blanks = '';
    this.#before = '';
    this.#recent = '';
    this.#isFirst = true;
    return true;
  }

  #begin(marker: Marker): void {
    const isGuess =
      marker === 'answer' &&
      this.#actions.some(({ written, read }) => read !== undefined || !isNoAction(written));
    this.#mode = isGuess ? 'over' : modeOf[marker];
    this.#blanks = '';
    this.#before = '';
    this.#recent = '';
    this.#isFirst = true;
    if (marker === 'action') this.#actions.push({ written: '' });
  }

  #take(piece: string): void {
    const isPlain = this.#mode !== 'held' && this.#mode !== 'action';
    if (isPlain && piece.trim() === '') {
      // Only appended: to look at all blanks for each new one would take long when there are many.
      this.#blanks += piece;
      return;
    }
    switch (this.#mode) {
      case 'start':
        this.#blanks += piece;
        this.#chooseStart();
        return;
      case 'held':
        if (this.#held?.add(piece, this.#tools) === 'hopeless') this.#release();
        return;
      case 'action': {
        const last = this.#actions.pop()?.written ?? '';
        this.#actions.push({ written: last + piece });
        return;
      }
      default:
        this.#give(piece);
    }
  }

  #chooseStart(): void {
    const text = this.#blanks.trimStart();
    if (text === '') return;
    this.#blanks = '';
    if (/^[{[`]/.test(text)) {
      const isLineStart = this.#isLineStart;
      this.#hold();
      this.#isLineStart = isLineStart;
    } else this.#mode = 'text';
    this.#take(text);
  }

  /** Decides about what was held back: a call, a broken call, or a part of the text. */
  #settle(isCut: boolean): void {
    if (this.#held === undefined) return;
    const { text, behind } = this.#held;
    const held: HeldText = { text, behind, before: this.#before, isCut };
    const read = readHeld(held, this.#tools);
    if (read.type === 'text') this.#release();
    else {
      this.#held = undefined;
      this.#actions.push({ written: text.trim(), read });
    }
  }

  #release(): void {
    const { text = '', behind } = this.#held ?? {};
    this.#held = undefined;
    this.#mode = behind === 'thought' ? 'thought' : 'text';
    // A fence without content is what remains of an answer that stood in it.
    if (behind !== 'nothing' || /[^\s`]/.test(text)) this.#give(text);
  }

  /**
   * Blanks are given out with what follows them: so none are left at the beginning and at the end.
   */
  #give(piece: string): void {
    const all = this.#blanks + piece;
    const shown = this.#isFirst ? all.trimStart() : all;
    const delta = shown.trimEnd();
    this.#blanks = shown.slice(delta.length);
    this.#before = (this.#before + shown.slice(0, delta.length)).slice(-longestBefore);
    if (delta === '') return;
    if (this.#mode === 'thought' || this.#mode === 'thinking')
      this.#sink.thought(delta, this.#isFirst);
    else this.#sink.text(delta, this.#isFirst);
    this.#isFirst = false;
  }
}
