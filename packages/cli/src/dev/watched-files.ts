import { type FSWatcher, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from 'adjutant/ports';

/** Milliseconds in which changes count as one: editors write a file in several steps. */
const gatheringMs = 60;

/** Calls a listener with the files that changed, of those that are watched now. */
export class WatchedFiles {
  readonly #clock: Clock;
  readonly #changed: (files: readonly string[]) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #pending = new Set<string>();
  #files: ReadonlySet<string> = new Set();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, changed: (files: readonly string[]) => void) {
    this.#clock = clock;
    this.#changed = changed;
  }

  /** Watches these files from now on. Their folders are watched, because editors replace files. */
  watch(files: ReadonlySet<string>): void {
    this.#files = files;
    const folders = new Set([...files].map((file) => dirname(file)));
    for (const [folder, watcher] of this.#watchers)
      if (!folders.has(folder)) {
        watcher.close();
        this.#watchers.delete(folder);
      }
    for (const folder of folders) {
      if (this.#watchers.has(folder)) continue;
      const watcher = watch(folder, (_kind, name) => {
        if (name !== null) this.#touched(join(folder, name));
      });
      // A folder that is removed is no failure of the command.
      watcher.on('error', () => undefined);
      this.#watchers.set(folder, watcher);
    }
  }

  close(): void {
    this.#cancel?.();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #touched(file: string): void {
    if (!this.#files.has(file)) return;
    this.#pending.add(file);
    this.#cancel?.();
    this.#cancel = this.#clock.setTimer(gatheringMs, () => {
      const files = [...this.#pending];
      this.#pending.clear();
      this.#changed(files);
    });
  }
}
