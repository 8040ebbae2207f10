/** Returns the first path of a table in a text. */
export function findTablePath(text: string): string | undefined {
  return (
    /["“'`]([^"”'`]+\.(?:csv|tsv))["”'`]/i.exec(text)?.[1] ??
    /[\w./\\~-]+\.(?:csv|tsv)\b/i.exec(text)?.[0]
  );
}
