/** Doc comments of TypeScript texts: how they begin, and what they hold. */
export interface CommentCount {
  readonly comments: number;
  /** Those that begin with a free relative instead of a noun or a verb. */
  readonly relatives: number;
  readonly examples: number;
  readonly links: number;
}

/** Comments of all kinds, counted where they begin. */
export interface OpeningCount {
  readonly comments: number;
  /** Those that begin with a free relative, or with How. */
  readonly relatives: number;
}

const docComment = /\/\*\*([\s\S]*?)\*\//g;
/** The first words of a comment; a line comment below another one does not begin. */
const opening = /(?:\/\*\*[\s*]*|(?<!\/\/[^\n]*\n)^[ \t]*\/\/)([^\n]*)/gm;
const relativeOrHow = /^(What|Who|Whoever|Whatever|Whether|Why|How)\b/;
const freeRelative = /^(What|Who|Whoever|Whatever|Whether|Why)\b/;

export function countComments(texts: readonly string[]): CommentCount {
  let [comments, relatives, examples, links] = [0, 0, 0, 0];
  for (const text of texts) {
    for (const [, body = ''] of text.matchAll(docComment)) {
      comments++;
      if (freeRelative.test(body.replace(/^[\s*]+/, ''))) relatives++;
      if (body.includes('@example')) examples++;
      links += body.split('{@link').length - 1;
    }
  }
  return { comments, relatives, examples, links };
}

/** Counts the openings of doc comments and of blocks of line comments. */
export function countOpenings(texts: readonly string[]): OpeningCount {
  const openings = texts.flatMap((text) =>
    [...text.matchAll(opening)].map(([, words = '']) => words.trimStart()),
  );
  const relatives = openings.filter((words) => relativeOrHow.test(words)).length;
  return { comments: openings.length, relatives };
}
