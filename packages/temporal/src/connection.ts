import { Client, Connection, type ConnectionOptions, isGrpcServiceError } from '@temporalio/client';
import { TemporalNamespaceError, TemporalUnavailableError } from './errors.ts';
import type { ResolvedOptions } from './options.ts';

/** `NOT_FOUND` of gRPC. */
const notFound = 5;

/** Options of connections of client and worker. */
interface ServerOptions extends Pick<ConnectionOptions, 'address' | 'tls'> {
  readonly apiKey?: string;
}

export function connectionOptions({ address, apiKey, tls }: ResolvedOptions): ServerOptions {
  const encrypted =
    typeof tls === 'object'
      ? {
          clientCertPair: { crt: tls.cert, key: tls.key },
          ...(tls.ca === undefined ? {} : { serverRootCACertificate: tls.ca }),
        }
      : tls;
  return {
    address,
    ...(encrypted === undefined ? {} : { tls: encrypted }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/**
 * Connects to the server, and checks that it has the namespace.
 * @throws TemporalUnavailableError, TemporalNamespaceError
 */
export async function connect(options: ResolvedOptions): Promise<Client> {
  const { address, connectTimeoutMs: connectTimeout, namespace } = options;
  let connection: Connection;
  try {
    connection = await Connection.connect({
      ...connectionOptions(options),
      connectTimeout,
      // The retries of the client outlive its connection and fail where nobody can catch it. The
      // outbox sends again.
      interceptors: [],
    });
  } catch (cause) {
    throw new TemporalUnavailableError({ address, reason: reasonOf(cause) }, { cause });
  }
  try {
    await connection.withDeadline(Date.now() + connectTimeout, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } catch (cause) {
    await connection.close();
    if (isGrpcServiceError(cause) && cause.code === notFound)
      throw new TemporalNamespaceError({ address, namespace }, { cause });
    throw new TemporalUnavailableError({ address, reason: reasonOf(cause) }, { cause });
  }
  return new Client({ connection, namespace });
}

/** First line of the reason of a failure. */
export function reasonOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line;
}
