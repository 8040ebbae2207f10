/** Items in an order, each of which is found by binary search. */
export class SortedList<Item> {
  readonly #compare: (left: Item, right: Item) => number;
  readonly #items: Item[] = [];

  /** @param compare 0 only for the same item */
  constructor(compare: (left: Item, right: Item) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  [Symbol.iterator](): IterableIterator<Item> {
    return this.#items[Symbol.iterator]();
  }

  add(item: Item): void {
    const place = this.#placeOf(item);
    this.#items.splice(place, 0, item);
  }

  remove(item: Item): void {
    const place = this.#placeOf(item);
    const found = this.#items[place];
    if (found !== undefined && this.#compare(found, item) === 0) this.#items.splice(place, 1);
  }

  /** Index of the first item that does not come before this one. */
  #placeOf(item: Item): number {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#items[middle] as Item, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
