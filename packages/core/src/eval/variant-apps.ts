import { defined } from '../base/defined.ts';
import { Runtime } from '../runtime.ts';
import { InvalidEvalError } from './errors.ts';
import type { EvalVariant, SharedAppVariant, TrialPlace, TrialSubject } from './eval-options.ts';
import type { VariantNames } from './summary.ts';

/**
 * The apps that an eval runs on: each is opened once, or for each trial, and what was opened here
 * is closed here.
 */
export class VariantApps {
  readonly #eval: string;
  readonly #opened = new Map<SharedAppVariant, Promise<Runtime>>();

  constructor(name: string) {
    this.#eval = name;
  }

  /** @throws InvalidEvalError when it is no app that is opened; and what opening it throws */
  async subjectOf(variant: EvalVariant, place: TrialPlace): Promise<TrialSubject> {
    if (!('open' in variant))
      return { app: await this.sharedApp(variant), runnable: variant.runnable };
    const subject: unknown = await variant.open(place);
    const { app, runnable } = (subject ?? {}) as Partial<TrialSubject>;
    if (!(app instanceof Runtime) || runnable === undefined)
      this.#refuse(variant, '`open` must give `{ app, runnable }`');
    return subject as TrialSubject;
  }

  async sharedApp(variant: SharedAppVariant): Promise<Runtime> {
    if (typeof variant.app !== 'function') return variant.app;
    let opening = this.#opened.get(variant);
    if (opening === undefined) {
      opening = Promise.resolve(variant.app()).then((app: unknown) =>
        app instanceof Runtime ? app : this.#refuse(variant, '`app` must give a runtime'),
      );
      this.#opened.set(variant, opening);
    }
    return opening;
  }

  /** Names by which people tell variants of several runs of an eval apart. */
  async namesOf(variant: EvalVariant): Promise<VariantNames> {
    const names = { name: variant.name, ...defined({ version: variant.version }) };
    if ('open' in variant) return names;
    const { app } = await this.sharedApp(variant);
    return { ...names, app, agent: variant.runnable.name };
  }

  #refuse({ name }: EvalVariant, reason: string): never {
    throw new InvalidEvalError({ name: this.#eval, reason: `of the variant "${name}", ${reason}` });
  }

  /**
   * An app that looks for runs to continue would continue the interrupted trials of the other
   * variants too, with its own definitions.
   * @throws InvalidEvalError
   */
  async refuseRecovery(variants: readonly EvalVariant[]): Promise<void> {
    const shared = variants.filter((variant): variant is SharedAppVariant => !('open' in variant));
    const opened = await Promise.all(
      shared.map(async (variant) => ({ variant, app: await this.sharedApp(variant) })),
    );
    for (const { variant, app } of opened) {
      const isAlone = opened.every(
        ({ app: other }) => other === app || other.app !== app.app || other.tenant !== app.tenant,
      );
      if (isAlone || !app.recovery.isAutomatic) continue;
      this.#refuse(
        variant,
        `its app needs \`recover: 'manual'\`: it would go on with trials of other ` +
          'variants, which have an app of the same name',
      );
    }
  }

  async close(): Promise<void> {
    for (const opening of this.#opened.values())
      await opening.then((app) => app.close()).catch(() => undefined);
  }
}
