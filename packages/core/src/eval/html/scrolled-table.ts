import { type Content, html, type Markup } from './markup.ts';

export interface ScrolledTable {
  /** Name of the table for a screen reader. */
  readonly label: string;
  /** Heading of the first column; only a screen reader tells it. */
  readonly firstColumn: string;
  /** Headings of the other columns. */
  readonly head: Content;
  readonly rows: Content;
}

/** Renders a table that scrolls sideways where the page is narrower than it. */
export function scrolledTable({ label, firstColumn, head, rows }: ScrolledTable): Markup {
  const first = html`<th scope="col"><span class="unseen">${firstColumn}</span></th>`;
  const table = html`<table><thead><tr>${first}${head}</tr></thead><tbody>${rows}</tbody></table>`;
  const attributes = html`tabindex="0" role="region" aria-label="${label}"`;
  return html`<div class="scroll" ${attributes}>${table}</div>`;
}
