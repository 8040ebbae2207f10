import { isText, type OptionChecks } from '../../base/options.ts';
import { InvalidModelError } from '../errors.ts';

/** Google Cloud Vertex AI: the location of the model and the account of the caller. */
export interface VertexSettings {
  /** @default GOOGLE_VERTEX_PROJECT, else GOOGLE_CLOUD_PROJECT */
  readonly project?: string | undefined;
  /** Such as `europe-west1`. @default GOOGLE_VERTEX_LOCATION, else GOOGLE_CLOUD_LOCATION */
  readonly location?: string | undefined;
  /** The same as `location`. */
  readonly region?: string | undefined;
  /**
   * Path of a service account's JSON key. @default GOOGLE_APPLICATION_CREDENTIALS, else the default
   * of Google's libraries
   */
  readonly credentials?: string | undefined;
}

/** Vertex settings may be given under `vertex` or beside the other settings. */
export interface VertexChoice extends VertexSettings {
  readonly vertex?: VertexSettings;
}

export const vertexOptions: OptionChecks<VertexSettings> = {
  project: isText,
  location: isText,
  region: isText,
  credentials: isText,
};

/** True when the settings ask for Vertex AI rather than for the vendor's own API. */
export function asksForVertex(settings: VertexChoice): boolean {
  return settings.vertex !== undefined || settings.project !== undefined;
}

/**
 * Options for the providers of `@ai-sdk/google-vertex`. @throws InvalidModelError when project or
 * location is not known
 */
export function resolveVertex(
  model: string,
  settings: VertexChoice,
  env: Readonly<Record<string, string | undefined>>,
) {
  const given = { ...settings, ...settings.vertex };
  const project = given.project || env['GOOGLE_VERTEX_PROJECT'] || env['GOOGLE_CLOUD_PROJECT'];
  const location =
    given.location || given.region || env['GOOGLE_VERTEX_LOCATION'] || env['GOOGLE_CLOUD_LOCATION'];
  const keyFilename = given.credentials || env['GOOGLE_APPLICATION_CREDENTIALS'];
  if (!project)
    throw new InvalidModelError({
      model,
      reason: 'Vertex AI needs a `project` (or GOOGLE_VERTEX_PROJECT)',
    });
  if (!location)
    throw new InvalidModelError({
      model,
      reason: 'Vertex AI needs a `location` (or GOOGLE_VERTEX_LOCATION), such as "europe-west1"',
    });
  // Google's library reads the environment of the process by itself, and then without a warning.
  const isFoundAnyway =
    !keyFilename || keyFilename === process.env['GOOGLE_APPLICATION_CREDENTIALS'];
  return { project, location, ...(isFoundAnyway ? {} : { googleAuthOptions: { keyFilename } }) };
}
