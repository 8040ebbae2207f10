/**
 * Part of a list: its entries under the name that the answer of the server has for them, such as
 * `requests`.
 */
export type Page<Item, Name extends string> = {
  readonly [Entries in Name]: readonly Item[];
} & {
  /** Gives the next page; missing on the last one. */
  readonly cursor?: string | undefined;
};

/** A list that lies on the server: iterate over all of it, page after page, or ask for one page. */
export class Listing<Item, Name extends string> implements AsyncIterable<Item> {
  readonly #name: Name;
  readonly #load: (cursor: string | undefined) => Promise<Page<Item, Name>>;

  /** @param name name of the entries in the answer of the server */
  constructor(name: Name, load: (cursor: string | undefined) => Promise<Page<Item, Name>>) {
    this.#name = name;
    this.#load = load;
  }

  /** One page: the first, or that of a cursor. Its size is the query's `limit`. */
  page(cursor?: string): Promise<Page<Item, Name>> {
    return this.#load(cursor);
  }

  /** Everything, page after page; the next page is asked for when it is needed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    let cursor: string | undefined;
    do {
      const page = await this.#load(cursor);
      yield* page[this.#name];
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
}
