/** Messages to an agent at work that are stored, and that its ledger has not told of yet. */
export class StoredMessages {
  /** Texts on their way to the store. */
  #sent: string[] = [];
  #stored: string[] = [];

  get texts(): readonly string[] {
    return this.#stored;
  }

  /** Takes a message in that is stored when `sending` ends: only then may it be called so. */
  async add(text: string, sending: Promise<void>): Promise<void> {
    this.#sent.push(text);
    try {
      await sending;
      if (this.#sent.includes(text)) this.#stored.push(text);
    } finally {
      takeFirst(this.#sent, text);
    }
  }

  /** Forgets a message, because it is in the ledger now. */
  read(text: string): void {
    if (!takeFirst(this.#stored, text)) takeFirst(this.#sent, text);
  }

  clear(): void {
    this.#sent = [];
    this.#stored = [];
  }
}

/** Takes the first equal text out of a list. Returns false when there is none. */
function takeFirst(texts: string[], text: string): boolean {
  const at = texts.indexOf(text);
  if (at !== -1) texts.splice(at, 1);
  return at !== -1;
}
