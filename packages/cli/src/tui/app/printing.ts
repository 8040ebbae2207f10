import { describeFailure } from '../../failure.ts';
import type { Block, Note } from '../feed/block.ts';
import { blockLines } from '../screens/block-lines.ts';
import type { Space } from '../screens/layout.ts';
import type { Line } from '../text/spans.ts';
import type { Printed } from './control.ts';

/** The scrollback of an app, and those who are told when something of its screen has changed. */
export abstract class Printing {
  readonly printed: Printed[] = [];
  readonly #listeners = new Set<() => void>();
  #version = 0;

  /** Number of the present turn, to which notes belong. */
  protected abstract get turn(): number;

  /** Grows with each change. */
  get version(): number {
    return this.#version;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells that something of what is shown has changed. */
  changed(): void {
    this.#version++;
    for (const listener of this.#listeners) listener();
  }

  print(lines: (space: Space) => readonly Line[]): void {
    this.printed.push({ key: this.printed.length, lines });
    this.changed();
  }

  note(note: Omit<Note, 'kind'>): void {
    const block: Block = { kind: 'note', ...note, turn: this.turn, gap: false };
    this.print((space) => blockLines(block, space));
  }

  fail(error: unknown): void {
    this.note({ sign: 'failed', tone: 'failure', text: describeFailure(error) });
  }
}
