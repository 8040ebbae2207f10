/** Part of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Gives the next page; missing on the last one. */
  readonly cursor?: string | undefined;
}

/** A list that lies on the server: iterate over all of it, page after page, or ask for one page. */
export class Listing<Item> implements AsyncIterable<Item> {
  readonly #load: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(load: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#load = load;
  }

  /** One page: the first, or that of a cursor. Its size is the query's `limit`. */
  page(cursor?: string): Promise<Page<Item>> {
    return this.#load(cursor);
  }

  /** Everything, page after page; the next page is asked for when it is needed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    let cursor: string | undefined;
    do {
      const page = await this.#load(cursor);
      yield* page.items;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
}
