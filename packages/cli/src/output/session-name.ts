import { plainLine } from './plain-text.ts';

const shownLength = 6;

/**
 * Returns a session as people name it: a generated id by its ending, which commands take, and any
 * other as it is.
 */
export function sessionName(id: string): string {
  return /^session_[a-z0-9]{12,}$/.test(id) ? `…${id.slice(-shownLength)}` : plainLine(id);
}
