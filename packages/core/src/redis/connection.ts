import { loadOptionalPackage } from '../base/optional-package.ts';
import { describeValue } from '../base/options.ts';

/** The part of a client of the package `redis` by which one is known. */
interface AnyClient {
  publish(channel: string, message: string): Promise<unknown>;
  duplicate(): unknown;
}

/** A client, and whether it is not the caller's. */
export interface OpenedRedis<Client> {
  readonly client: Client;
  readonly isOwn: boolean;
}

/** Returns the fault of what is neither an address nor a client, as the end of a sentence. */
export function faultOfConnection(connection: unknown): string | undefined {
  if (isClient(connection)) return undefined;
  if (typeof connection === 'string' && /^(rediss?|unix):\/\//.test(connection)) return undefined;
  const found =
    typeof connection === 'string' ? 'a text that does not begin so' : describeValue(connection);
  return (
    'its address must begin with redis:// or rediss://, or be a connected client of the ' +
    `package redis, not ${found}`
  );
}

/**
 * Opens a client of an address, or takes the caller's.
 * @param needed the function that needs the package, for the message
 * @throws MissingPackageError
 */
export async function openRedis<Client extends AnyClient>(
  connection: string | Client,
  needed: string,
): Promise<OpenedRedis<Client>> {
  if (typeof connection !== 'string') return { client: connection, isOwn: false };
  const { createClient } = await loadOptionalPackage('redis', needed, () => import('redis'));
  // A message that cannot be sent now is of no use later.
  const client = createClient({ url: connection, disableOfflineQueue: true });
  return { client: client as unknown as Client, isOwn: true };
}

function isClient(value: unknown): boolean {
  const { publish, duplicate } = (value ?? {}) as Partial<AnyClient>;
  return typeof publish === 'function' && typeof duplicate === 'function';
}
