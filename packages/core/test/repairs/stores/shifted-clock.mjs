// The wall clock of this process and its worker threads is off by so many milliseconds; with a
// file, by what stands there now.
import { readFileSync } from 'node:fs';

const RealDate = Date;
const { CLOCK_SHIFT_MS = '0', CLOCK_SHIFT_FILE } = process.env;
const shift = () =>
  Number(CLOCK_SHIFT_FILE === undefined ? CLOCK_SHIFT_MS : readFileSync(CLOCK_SHIFT_FILE, 'utf8'));

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift());
    else super(...given);
  }

  static now() {
    return RealDate.now() + shift();
  }
};
