import type { Clock } from 'adjutant/ports';
import { describeFailure } from '../../failure.ts';
import { type Editor, editorText, emptyEditor } from '../editor/editor.ts';
import { keepDraft, readDraft } from '../history/drafts.ts';
import { appendHistory, readHistory } from '../history/history.ts';
import type { Composer } from './composer.ts';

/** Files of the texts of a person in one project. */
export interface TextFiles {
  /** The texts that were sent. */
  readonly history: string;
  /** Returns the file of the draft of a session; `undefined`: of one that has not begun. */
  draft(session: string | undefined): string;
}

export interface KeptTextsParts {
  readonly clock: Clock;
  readonly composer: Composer;
  /** Called once, with a sentence, when texts cannot be kept. */
  readonly onProblem: (reason: string) => void;
}

/** Milliseconds after which a changed draft is kept. */
const keepEvery = 2_000;

/** Texts that outlive the app: what was sent from a project, and the drafts of its sessions. */
export class KeptTexts {
  readonly #parts: KeptTextsParts;
  #files: TextFiles | undefined;
  /** File of the draft of the open session. */
  #draft: string | undefined;
  #kept: Editor = emptyEditor;
  #writing: Promise<unknown> = Promise.resolve();
  #cancel: (() => void) | undefined;
  #hasFailed = false;

  constructor(parts: KeptTextsParts) {
    this.#parts = parts;
  }

  /** Takes the files of a project, and the texts that were sent from it. */
  async open(files: TextFiles): Promise<void> {
    this.#files = files;
    const history = await this.#guard(() => readHistory(files.history));
    this.#parts.composer.remember(...(history ?? []));
    this.#wait();
  }

  /**
   * Brings back the draft of a session, `undefined` for one that has not begun. Returns true when
   * there was one and the composer is free.
   */
  async openDraft(session: string | undefined): Promise<boolean> {
    await this.keep();
    const { composer } = this.#parts;
    const path = this.#files?.draft(session);
    this.#draft = path;
    this.#kept = emptyEditor;
    const draft = path === undefined ? undefined : await this.#guard(() => readDraft(path));
    if (draft === undefined) return false;
    if (!composer.isEmpty) {
      // A text that is being written stays; the draft comes before it in the history.
      composer.remember(editorText(draft));
      return false;
    }
    this.#kept = draft;
    composer.editor = draft;
    return true;
  }

  /** Keeps a text that was sent, and empties the composer. */
  sent(text: string): void {
    const { history } = this.#files ?? {};
    this.#parts.composer.remember(text);
    this.#parts.composer.sent();
    if (history === undefined) return;
    this.#write(() => appendHistory(history, text, this.#parts.clock));
    void this.keep();
  }

  /** Tells that the session has begun: its draft has its own file from here on. */
  begun(session: string): void {
    const path = this.#files?.draft(session);
    const before = this.#draft;
    if (path === before) return;
    this.#draft = path;
    this.#kept = emptyEditor;
    if (before !== undefined) this.#write(() => keepDraft(before, emptyEditor));
  }

  /** Keeps the draft as it stands now. */
  async keep(): Promise<void> {
    const { editor } = this.#parts.composer;
    const path = this.#draft;
    if (path !== undefined && editor.atoms !== this.#kept.atoms) {
      this.#kept = editor;
      this.#write(() => keepDraft(path, editor));
    }
    await this.#writing;
  }

  /** Keeps the draft for the last time. */
  async close(): Promise<void> {
    this.#cancel?.();
    await this.keep();
    this.#draft = undefined;
  }

  #wait(): void {
    this.#cancel = this.#parts.clock.setTimer(keepEvery, () => {
      this.#wait();
      void this.keep();
    });
  }

  /** Writes one text after the other. */
  #write(act: () => Promise<unknown>): void {
    this.#writing = this.#writing.then(() => this.#guard(act));
  }

  /** The conversation goes on without its files. */
  async #guard<Value>(act: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await act();
    } catch (error) {
      if (!this.#hasFailed) this.#report(error);
      return undefined;
    }
  }

  #report(error: unknown): void {
    this.#hasFailed = true;
    this.#parts.onProblem(`Drafts and the history are not kept: ${describeFailure(error)}`);
  }
}
