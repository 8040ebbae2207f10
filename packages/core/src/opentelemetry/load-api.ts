import { createRequire } from 'node:module';
import type * as Api from '@opentelemetry/api';
import { MissingPackageError } from '../base/optional-package.ts';

export type OpenTelemetryApi = typeof Api;

const packageName = '@opentelemetry/api';

/**
 * Returns the API of OpenTelemetry, loaded synchronously, because middleware cannot wait. Other
 * copies of the API share the same providers.
 * @throws MissingPackageError when it is not installed
 */
export function loadApi(): OpenTelemetryApi {
  try {
    return createRequire(import.meta.url)(packageName) as OpenTelemetryApi;
  } catch (cause) {
    const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
    if (code === 'MODULE_NOT_FOUND' && String(message).includes(`'${packageName}'`)) {
      throw new MissingPackageError({ package: packageName, needed: 'openTelemetry()' }, { cause });
    }
    throw cause;
  }
}
