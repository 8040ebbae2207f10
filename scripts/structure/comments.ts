/** Doc comments of TypeScript texts: how they begin, and what they hold. */
export interface CommentCount {
  readonly comments: number;
  /** Those that begin with a free relative instead of a noun or a verb. */
  readonly relatives: number;
  readonly examples: number;
  readonly links: number;
}

const docComment = /\/\*\*([\s\S]*?)\*\//g;
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
