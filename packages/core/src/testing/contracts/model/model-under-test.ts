import type { ModelInput } from '../../../models/model.ts';

/** An answer that a model is to give. Each part is sent in the way of its provider. */
export interface ModelScript {
  /** Streamed in at least these pieces. */
  readonly text?: readonly string[];
  readonly thoughts?: string;
  /** `args` is the text as the provider sends it, which may be broken JSON. */
  readonly toolCalls?: readonly { readonly name: string; readonly args: string }[];
  /** @default 'tool-calls' when there are calls, else 'stop' */
  readonly finishReason?: 'stop' | 'length' | 'tool-calls';
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
  /** The request fails with this HTTP status, or its like, before anything is streamed. */
  readonly failsWith?: number;
  /**
   * The end after the text: `never` leaves the stream open without further parts, `broken` loses
   * the connection.
   * @default the answer's end
   */
  readonly ends?: 'never' | 'broken';
}

/** A model whose answers a test can set. */
export interface ModelUnderTest {
  /** The model, or its name. */
  readonly model: ModelInput | string;
  /**
   * Sets the answers to the next calls, in order. Without it, only rules that hold for any answer
   * are tested, and the rest is skipped.
   */
  respond?(...scripts: ModelScript[]): void | Promise<void>;
  cleanup?(): Promise<void>;
}

export type MakeModel = () => ModelUnderTest | Promise<ModelUnderTest>;

/** Parts that a model may leave out. */
export type ModelPart =
  | 'thoughts'
  | 'tool calls'
  | 'broken arguments'
  | 'usage'
  | 'abort'
  | 'errors'
  | 'broken streams';

/** Parts that a model leaves out, each with the reason. */
export type ModelLeftOut = Readonly<Partial<Record<ModelPart, string>>>;
