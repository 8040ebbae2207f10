import type { JsonValue } from 'adjutant';
import type { SignName } from '../text/signs.ts';
import type { CallRecord } from './call-record.ts';

/** Meaning of a line, which gives its sign a colour. */
export type Tone = 'success' | 'failure' | 'attention' | 'plain';

/** A line that says what happened. */
export interface Note {
  readonly kind: 'note';
  readonly sign: SignName;
  readonly tone: Tone;
  readonly text: string;
  /** Quiet notes are dim. */
  readonly isQuiet?: boolean;
  readonly seq?: number;
}

/** Content of a block. */
export type BlockContent =
  | Note
  | {
      readonly kind: 'user';
      readonly text: string;
      /** Author of the message, where it is not the person here. */
      readonly by?: string;
      readonly files: readonly string[];
      readonly seq: number;
    }
  /** The name of the agent that answers from here on. */
  | { readonly kind: 'agent'; readonly name: string }
  /** A whole part of an answer, in Markdown. */
  | { readonly kind: 'text'; readonly markdown: string }
  | { readonly kind: 'output'; readonly value: JsonValue }
  /** The calls of one round. */
  | { readonly kind: 'calls'; readonly calls: readonly CallRecord[] }
  | {
      readonly kind: 'summary';
      readonly rounds: number;
      readonly tokens: number;
      readonly cost: number | undefined;
      readonly durationMs: number;
    };

/** A part of the conversation in which nothing changes any more: it is printed once. */
export type Block = BlockContent & {
  /** Number of the turn, from 1: the message of a person and what followed it. */
  readonly turn: number;
  /** True when an empty line stands before it. */
  readonly gap: boolean;
};
