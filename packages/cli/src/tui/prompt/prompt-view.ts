import type { EventOf } from 'adjutant';
import { visibleJson } from 'adjutant/text';
import { describeFailure } from '../../failure.ts';
import { formatSize } from '../../output/format.ts';
import type { FullView } from '../app/control.ts';
import type { Input } from '../editor/keys.ts';
import { filled, keysLine, windowStart } from '../full-screen/keys-line.ts';
import type { ViewActs } from '../full-screen/stacked-view.ts';
import {
  accent,
  fitted,
  gutterSign,
  lineSpans,
  type Space,
  spread,
  toned,
} from '../screens/layout.ts';
import type { Screen } from '../screens/live-view.ts';
import type { ModelPrompt } from '../session/conversation.ts';
import { sign } from '../text/signs.ts';
import { type Line, textOfLine } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { cutLine, cutText } from '../text/wrap.ts';
import type { ViewerPage } from '../viewer/viewer.ts';
import type { ModelCalls } from './model-calls.ts';
import { charactersOf, type PromptChanges, promptChanges } from './prompt-changes.ts';
import {
  allParts,
  type PromptPart,
  type PromptSection,
  promptSections,
} from './prompt-sections.ts';

type ModelStart = EventOf<'model_start'>;

export interface PromptViewParts {
  readonly calls: ModelCalls;
  /** Reads the prompt of a call. */
  readonly load: (seq: number) => Promise<ModelPrompt>;
  /** Context window of a model, where it is known. */
  readonly windowOf: (model: string) => number | undefined;
  readonly acts: ViewActs;
  /** Opens a text as a whole. */
  readonly open: (pages: readonly ViewerPage[]) => void;
}

/** A prompt that was read, with what changed since the call before. */
interface LoadedPrompt {
  readonly prompt: ModelPrompt;
  readonly sections: readonly PromptSection[];
  readonly before: ModelStart | undefined;
  readonly changes: PromptChanges | undefined;
  /** Tokens of a character. */
  readonly ratio: number;
}

interface Row {
  readonly section: PromptSection['name'] | 'removed';
  /** `undefined`: the row of the section itself. */
  readonly part?: PromptPart;
  readonly count: number;
  readonly text: string;
  readonly name: string;
  readonly mark: '+' | '−' | ' ';
}

const keys = [
  ...['↑↓ ←→ fold', 'Tab next call', '= diff to the call before', 'r as JSON', 'y copy'],
  ...['Enter whole', 'q back'],
];
const nameWidth = 16;
const marker = '[...truncated]';

/** The exact prompt of a model call, by section, with what changed since the call before. */
export class PromptView implements FullView {
  readonly #parts: PromptViewParts;
  #start: ModelStart;
  #loaded: LoadedPrompt | undefined;
  #failure = '';
  readonly #unfolded = new Set<string>(['history']);
  #isDiff = false;
  #marked = 0;
  #first = 0;
  #room = 1;
  #notice = '';

  constructor(parts: PromptViewParts, start: ModelStart) {
    this.#parts = parts;
    this.#start = start;
    void this.#read(start);
  }

  /** Reads the prompt of a call. One that was asked for later goes first. */
  async #read(start: ModelStart): Promise<void> {
    const { calls, load, acts } = this.#parts;
    this.#start = start;
    this.#loaded = undefined;
    this.#failure = '';
    try {
      const before = calls.before(start);
      const prompt = await load(start.seq);
      const former = before === undefined ? undefined : await load(before.seq);
      if (this.#start === start) this.#show(prompt, before, former);
    } catch (error) {
      if (this.#start === start) this.#failure = describeFailure(error);
    }
    acts.changed();
  }

  #show(prompt: ModelPrompt, before: ModelStart | undefined, former?: ModelPrompt): void {
    const sections = promptSections(prompt);
    const parts = allParts(sections);
    const changes =
      former === undefined ? undefined : promptChanges(allParts(promptSections(former)), parts);
    const ratio = this.#parts.calls.tokens(this.#start) / Math.max(1, charactersOf(parts));
    this.#loaded = { prompt, sections, before, changes, ratio };
    this.#marked = Math.min(this.#marked, Math.max(0, this.#rows().length - 1));
  }

  take(input: Input): boolean {
    this.#notice = '';
    if (input.kind === 'paste') return false;
    if (input.kind === 'text') {
      for (const letter of input.text) if (this.#letter(letter)) return true;
      return false;
    }
    return this.#key(input);
  }

  #letter(letter: string): boolean {
    if (letter === 'q') return true;
    if (letter === 'j') this.#move(1);
    if (letter === 'k') this.#move(-1);
    if (letter === 'g') this.#move(Number.NEGATIVE_INFINITY);
    if (letter === 'G') this.#move(Number.POSITIVE_INFINITY);
    if (letter === '=') {
      this.#isDiff = !this.#isDiff;
      this.#marked = 0;
    }
    if (letter === 'r') this.#asJson();
    if (letter === 'y' && this.#loaded !== undefined) {
      this.#parts.acts.copy(visibleJson(this.#loaded.prompt, 2));
      this.#notice = 'copied';
    }
    return false;
  }

  #asJson(): void {
    const { prompt } = this.#loaded ?? {};
    if (prompt === undefined) return;
    const title = `#${this.#start.seq} prompt as JSON`;
    this.#parts.open([{ title, text: () => visibleJson(prompt, 2) }]);
  }

  #key({ key, ctrl, shift }: Extract<Input, { kind: 'key' }>): boolean {
    if (key === 'escape' || (ctrl === true && key === 'x')) return true;
    if (key === 'up') this.#move(-1);
    if (key === 'down') this.#move(1);
    if (key === 'pageUp') this.#move(-this.#room);
    if (key === 'pageDown') this.#move(this.#room);
    if (key === 'home') this.#move(Number.NEGATIVE_INFINITY);
    if (key === 'end') this.#move(Number.POSITIVE_INFINITY);
    if (key === 'left') this.#fold();
    if (key === 'right') this.#unfold();
    if (key === 'tab') this.#other(shift === true ? -1 : 1);
    if (key === 'enter') this.#open();
    return false;
  }

  #move(by: number): void {
    const last = Math.max(0, this.#rows().length - 1);
    this.#marked = Math.max(0, Math.min(this.#marked + by, last));
  }

  #unfold(): void {
    const row = this.#rows()[this.#marked];
    if (row !== undefined) this.#unfolded.add(row.section);
  }

  #fold(): void {
    const row = this.#rows()[this.#marked];
    if (row === undefined) return;
    this.#unfolded.delete(row.section);
    const head = this.#rows().findIndex(({ section }) => section === row.section);
    this.#marked = Math.max(0, head);
  }

  #other(by: 1 | -1): void {
    const next = this.#parts.calls.beside(this.#start, by);
    if (next === undefined || next.seq === this.#start.seq) this.#notice = 'there is no other call';
    else void this.#read(next);
  }

  #open(): void {
    const row = this.#rows()[this.#marked];
    if (row === undefined) return;
    const { part } = row;
    if (part === undefined) this.#toggle(row.section);
    else this.#parts.open([{ title: `#${this.#start.seq} ${part.name}`, text: () => part.text }]);
  }

  #toggle(section: string): void {
    if (!this.#unfolded.delete(section)) this.#unfolded.add(section);
  }

  #rows(): readonly Row[] {
    if (this.#loaded === undefined) return [];
    const { sections, changes } = this.#loaded;
    const all = sections.flatMap(({ name, parts }) => this.#sectionRows(name, parts, changes));
    if (!this.#isDiff || changes === undefined) return all;
    const removed = changes.removed.map((part): Row => this.#partRow('removed', part, '−'));
    return [...all, ...removed];
  }

  #sectionRows(
    section: PromptSection['name'],
    parts: readonly PromptPart[],
    changes: PromptChanges | undefined,
  ): Row[] {
    const rows = parts.map((part) =>
      this.#partRow(section, part, changes?.added.has(part) === true ? '+' : ' '),
    );
    if (this.#isDiff && changes !== undefined) return rows.filter(({ mark }) => mark === '+');
    const words = { system: 'message', tools: 'tool', history: 'part', settings: 'setting' };
    const text = `${parts.length} ${words[section]}${parts.length === 1 ? '' : 's'}`;
    const added = rows.filter(({ mark }) => mark === '+').length;
    const count = charactersOf(parts);
    const isAllNew = added === parts.length;
    const shown = added === 0 || isAllNew ? text : `${text}, ${added} new`;
    const mark = added > 0 ? '+' : ' ';
    const head: Row = { section, count, text: shown, name: section, mark };
    return this.#unfolded.has(section) ? [head, ...rows] : [head];
  }

  #partRow(section: Row['section'], part: PromptPart, mark: Row['mark']): Row {
    return {
      section,
      part,
      count: part.key.length,
      text: part.line ?? part.text,
      name: part.name,
      mark,
    };
  }

  lines(screen: Screen): readonly Line[] {
    const height = Math.max(3, screen.rows - 1);
    const header = this.#header(screen);
    this.#room = height - 1 - header.length;
    const rows = this.#rows();
    this.#first = windowStart(this.#first, this.#marked, this.#room, rows.length);
    const shown = rows
      .slice(this.#first, this.#first + this.#room)
      .map((row, at) => this.#rowLine(row, this.#first + at === this.#marked, screen));
    const body = shown.length > 0 ? shown : [this.#emptyLine(screen)];
    return [...header, ...filled(body, this.#room), this.#lastLine(screen)];
  }

  #emptyLine(screen: Screen): Line {
    const width = Math.max(1, screen.columns - 1);
    if (this.#failure !== '')
      return cutLine(
        [gutterSign('failed', toned('failure'), screen), ...lineSpans(this.#failure)],
        width,
      );
    const text = this.#loaded === undefined ? '  reading the prompt' : '  nothing has changed';
    return cutLine([{ text, dim: true }], width);
  }

  /** The call, and what changed since the one before: beside it, or below it. */
  #header(screen: Screen): Line[] {
    const { seq, model, round } = this.#start;
    const tokens = this.#parts.calls.tokens(this.#start);
    const left = lineSpans(`#${seq} model_start · ${model} · round ${round}`, { bold: true });
    const most = this.#parts.windowOf(model);
    const of = most === undefined ? '' : ` of ${most.toLocaleString('en-US')}`;
    const count: Line = [{ text: ` · ${tokens.toLocaleString('en-US')}${of} tokens` }];
    const line: Line = [...left, ...count];
    const facts = this.#sinceBefore(tokens).join(' · ');
    const width = displayWidth(textOfLine(line)) + displayWidth(facts) + 2;
    if (width < screen.columns) return [spread(line, { facts: [facts] }, screen)];
    const below: Line = [{ text: `  ${facts}`, dim: true }];
    return fitted([line, below], screen);
  }

  #sinceBefore(tokens: number): string[] {
    const { before, changes, ratio } = this.#loaded ?? {};
    if (before === undefined || changes === undefined || ratio === undefined) return [];
    const grown = tokens - this.#parts.calls.tokens(before);
    const signed = `${grown < 0 ? '−' : '+'}${Math.abs(grown).toLocaleString('en-US')}`;
    const kept = tokens === 0 ? 0 : Math.round((changes.keptCharacters * ratio * 100) / tokens);
    return [`${signed} since #${before.seq}`, `prefix kept ${kept} %`];
  }

  #rowLine(row: Row, isMarked: boolean, space: Space): Line {
    const { part, section, mark } = row;
    const ellipsis = sign('ellipsis', space.ascii);
    const isHead = part === undefined;
    const fold = this.#unfolded.has(section) ? 'unfolded' : 'folded';
    const lead = isHead ? `${sign(fold, space.ascii)} ` : '  ';
    const plus = isHead ? '' : `${mark === '−' ? sign('minus', space.ascii) : mark} `;
    const name = cutText(textOfLine(lineSpans(row.name)), nameWidth - plus.length, ellipsis);
    const blanks = ' '.repeat(Math.max(1, nameWidth - plus.length - displayWidth(name)));
    const tokens = Math.max(1, Math.round(row.count * (this.#loaded?.ratio ?? 0)));
    const count = tokens.toLocaleString('en-US').padStart(7);
    const tone = mark === '−' ? toned('failure') : mark === '+' ? toned('success') : {};
    const line: Line = [
      isMarked ? gutterSign('user', { color: accent, bold: true }, space) : { text: '  ' },
      { text: lead, dim: true },
      { ...tone, text: plus },
      { text: `${name}${blanks}`, bold: isHead || isMarked },
      { text: `${count}   `, dim: true },
      ...lineSpans(isHead ? row.text : row.text.slice(0, 400), isHead ? { dim: true } : {}),
    ];
    return spread(line, { facts: part === undefined ? [] : this.#cutNote(part) }, space);
  }

  /** Says of a shortened result how long it was. */
  #cutNote({ text, callId }: PromptPart): string[] {
    if (callId === undefined || !text.includes(marker)) return [];
    const { seq, recipe } = this.#start;
    const length = this.#parts.calls.resultLength(callId, seq);
    const most = formatSize(recipe.resultLimit);
    return [length === undefined ? `cut to ${most}` : `cut from ${formatSize(length)} to ${most}`];
  }

  #lastLine(screen: Screen): Line {
    if (this.#notice === '') return keysLine(keys, screen);
    return cutLine([{ text: ` ${this.#notice}`, dim: true }], Math.max(1, screen.columns - 1));
  }
}
