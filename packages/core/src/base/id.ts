/** The port through which all identifiers enter. */
export interface IdSource {
  /** A new identifier, unique across machines, of lower-case letters and digits. */
  next(): string;
}

// 32 symbols, so that one random byte gives one symbol without bias; without i, l, o, u, which are
// misread.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const idLength = 16;
const pool = new Uint8Array(idLength * 64);
let used = pool.length;

export const systemIds: IdSource = Object.freeze({
  /** 80 random bits as 16 symbols. */
  next(): string {
    if (used >= pool.length) {
      // Loaded with the first identifiers, so that importing the package stays light.
      process.getBuiltinModule('node:crypto').randomFillSync(pool);
      used = 0;
    }
    let id = '';
    for (let i = 0; i < idLength; i++) id += alphabet[(pool[used + i] as number) & 31];
    used += idLength;
    return id;
  },
});
