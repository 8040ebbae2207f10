import { registerHooks } from 'node:module';
import { sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Name in the query of a module's URL. Another value makes Node load the module anew. */
const generationName = 'adjutant-dev';

/**
 * The modules of a project, as Node loads them: which files they are, and how they are loaded anew.
 * Packages are loaded once.
 */
export class ProjectModules {
  readonly #files = new Set<string>();
  readonly #base: string;
  readonly #hooks: { deregister(): void };
  #generation = 0;

  constructor(base: string) {
    this.#base = pathToFileURL(base + sep).href;
    this.#hooks = registerHooks({
      resolve: (specifier, context, next) => {
        const resolved = next(specifier, context);
        return context.conditions.includes('require')
          ? resolved
          : { ...resolved, url: this.#taken(resolved.url) };
      },
    });
  }

  /** Files of the modules that were loaded last. */
  get files(): ReadonlySet<string> {
    return this.#files;
  }

  /** Lets the next import load all modules of the project anew. */
  renew(): void {
    this.#generation++;
    this.#files.clear();
  }

  close(): void {
    this.#hooks.deregister();
  }

  #taken(url: string): string {
    const isOwn = url.startsWith(this.#base) && !url.includes('/node_modules/');
    if (!isOwn) return url;
    const plain = new URL(url);
    plain.searchParams.delete(generationName);
    this.#files.add(fileURLToPath(plain));
    if (this.#generation > 0) plain.searchParams.set(generationName, String(this.#generation));
    return plain.href;
  }
}
