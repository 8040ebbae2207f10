import { type Tool, type ToolContext, tool } from '../../tool.ts';
import { type RootedToolOptions, rootedFiles } from './rooted-files.ts';
import { eachLine } from './text-lines.ts';

export interface ReadFileOptions extends RootedToolOptions {
  /** The most that one call gives, in bytes of UTF-8. @default 1_000_000 */
  readonly maxBytes?: number;
}

export interface ReadFileResult {
  readonly path: string;
  /** The lines asked for, joined by `\n`. */
  readonly text: string;
  /**
   * Number of the first and the last line of `text`, from 1; the last is smaller than the first
   * when there are none.
   */
  readonly firstLine: number;
  readonly lastLine: number;
  readonly totalLines: number;
  /**
   * There is more of the file after `text`: a next call with `offset: lastLine + 1` reads on,
   * unless a single line is longer than the limit.
   */
  readonly truncated: boolean;
}

interface ReadFileArgs {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
}

const description = `Reads a text file. Gives its text, how many lines it has, and whether there \
is more.
"offset" is the number of the first line to read (from 1), "limit" how many lines; \
without them it reads from the beginning.
To find something in large files use searchFiles; to compute with a CSV file use queryCsv.`;

/** A tool that reads text files below a folder, by lines. */
export function readFile(options: ReadFileOptions): Tool {
  const files = rootedFiles('readFile', options);
  const maxBytes = options.maxBytes ?? 1_000_000;
  return tool({
    name: 'readFile',
    description,
    schema: {
      type: 'object',
      properties: {
        path: {
          type: 'string',
          minLength: 1,
          description: 'Path of the file, relative to the root',
        },
        offset: { type: 'integer', minimum: 1, description: 'Number of the first line, from 1' },
        limit: { type: 'integer', minimum: 1, description: 'Number of lines' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    readOnly: true,
    execute: async (ctx: ToolContext<ReadFileArgs>): Promise<ReadFileResult> => {
      await using file = await files.open(ctx.args.path);
      const { offset: from = 1, limit = Number.POSITIVE_INFINITY } = ctx.args;
      const window = new LineWindow(from, limit, maxBytes);
      const totalLines = await eachLine(file, maxBytes, ({ text, cut }) => window.add(text, cut), {
        from,
        signal: ctx.signal,
      });
      return { path: file.path, ...window.result(totalLines) };
    },
  });
}

/** Collects the lines asked for until the limit. */
class LineWindow {
  readonly #firstLine: number;
  readonly #limit: number;
  readonly #lines: string[] = [];
  #roomInBytes: number;
  #cut = false;

  constructor(firstLine: number, limit: number, maxBytes: number) {
    this.#firstLine = firstLine;
    this.#limit = limit;
    this.#roomInBytes = maxBytes;
  }

  /**
   * Adds a line.
   * @returns true when there is room for more
   */
  add(text: string, cut: boolean): boolean {
    const bytes = Buffer.byteLength(text) + 1;
    if (
      this.#lines.length >= this.#limit ||
      (bytes > this.#roomInBytes + 1 && this.#lines.length > 0)
    )
      return false;
    this.#roomInBytes -= bytes;
    this.#lines.push(text);
    this.#cut ||= cut;
    return true;
  }

  result(totalLines: number): Omit<ReadFileResult, 'path'> {
    const lastLine = this.#firstLine + this.#lines.length - 1;
    return {
      text: this.#lines.join('\n'),
      firstLine: this.#firstLine,
      lastLine,
      totalLines,
      truncated: this.#cut || (this.#lines.length > 0 && lastLine < totalLines),
    };
  }
}
