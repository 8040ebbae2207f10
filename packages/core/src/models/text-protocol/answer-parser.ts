import { type Marker, markerOf, mayBecomeMarker } from './markers.ts';

/** The receiver of the parts of an answer while it is read. */
export interface AnswerSink {
  /** A part of the thoughts. `first`: a new thought begins. */
  thought(delta: string, first: boolean): void;
  /** A part of the text for the user. */
  text(delta: string, first: boolean): void;
}

/** The most that is skipped behind the colon of a marker: the end of its emphasis, and blanks. */
const decoration = /^[*_]{0,3}[ \t]{0,8}/;
const longestDecoration = 11;

type Mode = 'start' | 'held' | 'thought' | 'text' | 'action' | 'answer' | 'over';

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
 * result. Text before the first marker is for the user; when it begins like JSON, it is held back
 * until the end, because it may be an action without its marker.
 */
export class AnswerParser {
  readonly #sink: AnswerSink;
  readonly #actions: string[] = [];
  #mode: Mode = 'start';
  /** The beginning of a line, as long as it may be a marker. */
  #pending = '';
  #isLineStart = true;
  #held = '';
  #blanks = '';
  #isFirst = true;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  push(delta: string): void {
    if (this.#mode === 'over') return;
    this.#pending += delta;
    this.#read(false);
  }

  /**
   * The actions as they were written, and what was held back: it is an action, or else the text.
   */
  end(): { readonly actions: readonly string[]; readonly held: string } {
    this.#read(true);
    return { actions: this.#actions, held: this.#held.trim() };
  }

  #read(isEnd: boolean): void {
    while (this.#pending !== '' && this.#mode !== 'over') {
      if (this.#isLineStart && this.#mode !== 'answer') {
        const step = this.#readMarker(isEnd);
        if (step === 'wait') return;
        if (step === 'marker') continue;
      }
      const newline = this.#mode === 'answer' ? -1 : this.#pending.indexOf('\n');
      const piece = newline === -1 ? this.#pending : this.#pending.slice(0, newline + 1);
      this.#pending = this.#pending.slice(piece.length);
      this.#isLineStart = newline !== -1;
      this.#take(piece);
    }
  }

  #readMarker(isEnd: boolean): 'marker' | 'wait' | 'none' {
    const found = markerOf(this.#pending);
    if (found === undefined) return !isEnd && mayBecomeMarker(this.#pending) ? 'wait' : 'none';
    const rest = this.#pending.slice(found.end);
    const skipped = decoration.exec(rest)?.[0].length ?? 0;
    if (!isEnd && skipped === rest.length && skipped < longestDecoration) return 'wait';
    this.#pending = rest.slice(skipped);
    this.#isLineStart = false;
    this.#begin(found.marker);
    return 'marker';
  }

  #begin(marker: Marker): void {
    const isGuess = marker === 'answer' && this.#actions.length > 0;
    this.#mode = isGuess ? 'over' : modeOf[marker];
    this.#blanks = '';
    this.#isFirst = true;
    if (marker === 'action') this.#actions.push('');
  }

  #take(piece: string): void {
    const isProse = this.#mode !== 'held' && this.#mode !== 'action';
    if (isProse && piece.trim() === '') {
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
        this.#held += piece;
        return;
      case 'action':
        this.#actions[this.#actions.length - 1] += piece;
        return;
      default:
        this.#give(piece);
    }
  }

  #chooseStart(): void {
    const text = this.#blanks.trimStart();
    if (text === '') return;
    this.#blanks = '';
    this.#mode = /^[{[`]/.test(text) ? 'held' : 'text';
    this.#take(text);
  }

  /**
   * Blanks are given out with what follows them: so none are left at the beginning and at the end.
   */
  #give(piece: string): void {
    const all = this.#blanks + piece;
    const shown = this.#isFirst ? all.trimStart() : all;
    const delta = shown.trimEnd();
    this.#blanks = shown.slice(delta.length);
    if (delta === '') return;
    if (this.#mode === 'thought') this.#sink.thought(delta, this.#isFirst);
    else this.#sink.text(delta, this.#isFirst);
    this.#isFirst = false;
  }
}
