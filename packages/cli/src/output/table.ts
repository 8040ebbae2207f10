/** Returns a table in columns, with the head first. The last column is not padded. */
export function tableLines(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  options: { readonly right?: readonly number[] } = {},
): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        if (options.right?.includes(column)) return cell.padStart(width);
        return column === row.length - 1 ? cell : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}
