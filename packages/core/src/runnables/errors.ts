import { AdjutantError } from '../base/error.ts';
import { findInvalidOption, type OptionCheck, type OptionChecks } from '../base/options.ts';

/** A definition that cannot work. Nothing has run. */
export class InvalidDefinitionError extends AdjutantError {
  constructor(data: { kind: string; name: string; reason: string }, options?: ErrorOptions) {
    super(
      'invalid_definition',
      `The ${data.kind} "${data.name}" cannot be defined: ${data.reason}.`,
      data,
      options,
    );
  }
}

const namePattern = /^[A-Za-z_][\w .:-]{0,127}$/;

/**
 * Checks what all definitions share. Names are parts of invocation paths, so `/`, `#`, `~` and `>`
 * are not for them. @throws InvalidDefinitionError
 */
function checkName(kind: string, name: unknown): void {
  if (typeof name === 'string' && namePattern.test(name)) return;
  throw new InvalidDefinitionError({
    kind,
    name: String(name),
    reason:
      'a name is 1 to 128 letters, digits, spaces, "_", "-", "." or ":", and starts with a ' +
      'letter or "_"',
  });
}

/**
 * Checks the options of a definition: the name, that there are no others, and what each must be.
 * @param added checks of members that a definition has and options do not
 * @throws InvalidDefinitionError
 */
export function checkDefinition<Options extends { readonly name: string }>(
  kind: string,
  options: Options,
  checks: OptionChecks<Options>,
  added?: Readonly<Record<string, OptionCheck>>,
): void {
  const name: unknown = (options as { name?: unknown } | null | undefined)?.name;
  // A definition may be spread into the options of a new one: agent({ ...support, model: other }).
  const isDefinition: OptionChecks<{ kind: string }> = {
    kind: (value) => (value === kind ? undefined : `"${kind}"`),
  };
  const derived = typeof options === 'object' && options !== null && 'kind' in options;
  const invalid = findInvalidOption(
    options,
    derived ? { ...checks, ...added, ...isDefinition } : checks,
  );
  if (
    invalid !== undefined &&
    (typeof options !== 'object' || options === null || typeof name === 'string')
  ) {
    throw new InvalidDefinitionError({ kind, name: String(name), reason: invalid.reason });
  }
  checkName(kind, name);
}
