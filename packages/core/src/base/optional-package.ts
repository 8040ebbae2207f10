import { AdjutantError } from './error.ts';

/** An optional package that is needed and not installed. */
export class MissingPackageError extends AdjutantError {
  constructor(data: { package: string; needed: string }, options?: ErrorOptions) {
    super(
      'missing_package',
      `${data.needed} needs the package "${data.package}". Install it: npm install ${data.package}`,
      data,
      options,
    );
  }
}

/**
 * Loads an optional peer package on first use.
 * @throws MissingPackageError when it is not installed
 */
export async function loadOptionalPackage<Module>(
  name: string,
  needed: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const code = (cause as { code?: unknown }).code;
    if (code === 'ERR_MODULE_NOT_FOUND' && String((cause as Error).message).includes(`'${name}'`)) {
      throw new MissingPackageError({ package: name, needed }, { cause });
    }
    throw cause;
  }
}
